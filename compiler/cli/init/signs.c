#include "compiler/cli/init/signs.h"

#include "compiler/base/ascii.h"
#include "compiler/base/limits.h"
#include "compiler/base/sys/fileio.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENTRIES_MAX 4096u /* of the folder, that are looked at */

/* --- what is there by name ------------------------------------------------ */

static const struct {
	const char *file, *preset;
} tools[] = {
	{"package.json", "npm"},      {"pyproject.toml", "pypi"},
	{"requirements.txt", "pypi"}, {"setup.py", "pypi"},
	{"Cargo.toml", "crates"},     {"go.mod", "go"},
};

/* Of those the default policy hides other ones everywhere. */
static const struct {
	const char *pattern; /* for fnmatch(3), and for the policy */
	bool folder;
	const char *about;
} secrets[] = {
	{"secrets", true, "a folder of that name"},
	{"credentials", true, "a folder of that name"},
	{"credentials.json", false, "what clouds call a key"},
	{"service-account*.json", false, "what clouds call a key"},
	{"*.tfstate", false, "Terraform writes secrets into its state"},
	{"*.tfvars", false, "values for Terraform"},
	{"*.key", false, "a private key, likely"},
	{"*.jks", false, "a store of keys"},
	{"*.keystore", false, "a store of keys"},
	{"*.kdbx", false, "a store of passwords"},
	{"local.settings.json", false, "settings of Azure Functions"},
	{".dev.vars", false, "variables of Cloudflare Workers"},
};

static const struct {
	const char *file, *hint;
} hints[] = {
	{".devcontainer/devcontainer.json",
	 "'membrane init --from' takes it for a first policy"},
	{".devcontainer.json",
	 "'membrane init --from' takes it for a first policy"},
	{".claude/settings.json",
	 "'membrane init --from' takes it for a first policy"},
	{"Dockerfile",
	 "'docker build -t NAME .', then 'image: NAME', if an agent is to work in that image"},
};

/* A file of its own; what a link leads to is somebody else's. */
static bool is_file(int dir, const char *path)
{
	struct stat st;

	return fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISREG(st.st_mode);
}

static void find_tools(int dir, struct proposal *d)
{
	for (size_t i = 0; i < ARRAY_LEN(tools); i++)
		if (is_file(dir, tools[i].file))
			proposal_add(d, PROPOSAL_EXTENDS,
				     str_of(tools[i].preset),
				     arena_fmt(d->a, "for %s", tools[i].file));
}

static void find_hints(int dir, struct proposal *d)
{
	for (size_t i = 0; i < ARRAY_LEN(hints); i++)
		if (is_file(dir, hints[i].file))
			proposal_unsaid(d, str_of(hints[i].file),
					str_of(hints[i].hint));
}

/* --- secrets -------------------------------------------------------------- */

static void match_entry(int dir, const struct dirent *e, bool *found)
{
	struct stat st;

	for (size_t i = 0; i < ARRAY_LEN(secrets); i++) {
		if (found[i] || fnmatch(secrets[i].pattern, e->d_name, 0) != 0)
			continue;
		found[i] = fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) ==
				   0 &&
			   secrets[i].folder == S_ISDIR(st.st_mode);
	}
}

/* By the table's words alone: a name in the folder may be anything. */
static void find_secrets(int dir, struct proposal *d)
{
	bool found[ARRAY_LEN(secrets)] = {false};
	int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *e;
	uint32_t n = 0;

	if (!list) {
		if (copy >= 0)
			close(copy);
		return;
	}
	while (n++ < ENTRIES_MAX && (e = readdir(list)))
		match_entry(dir, e, found);
	closedir(list);
	for (size_t i = 0; i < ARRAY_LEN(secrets); i++)
		if (found[i])
			proposal_add(d, PROPOSAL_IGNORE,
				     arena_fmt(d->a, "%s%s", secrets[i].pattern,
					       secrets[i].folder ? "/" : ""),
				     str_of(secrets[i].about));
}

/* --- remotes -------------------------------------------------------------- */

static const struct {
	const char *host, *preset;
} forges[] = {
	{"github.com", "github"},
	{"ssh.github.com", "github"},
	{"gitlab.com", "gitlab"},
	{"bitbucket.org", "bitbucket"},
};

static bool is_host(struct str s)
{
	bool dot = false;

	for (size_t i = 0; i < s.n; i++) {
		dot |= s.p[i] == '.';
		if (!ascii_is_alnum(s.p[i]) && s.p[i] != '-' && s.p[i] != '.')
			return false;
	}
	return dot && s.n <= LIMIT_NAME_BYTES && s.p[0] != '.' &&
	       s.p[0] != '-' && s.p[s.n - 1] != '.';
}

/* The host of "scheme://user@host:port/path" or "user@host:path". */
static struct str host_of(struct str url)
{
	size_t scheme = str_find(url, ':', 0), end, at;
	struct str rest = url;

	if (str_starts(str_slice(url, scheme, url.n), STR("://"))) {
		rest = str_slice(url, scheme + 3, url.n);
		rest = str_slice(rest, 0, str_find(rest, '/', 0));
	} else if (str_find(url, '/', 0) < scheme) {
		return STR(""); /* a path */
	}
	at = str_find(rest, '@', 0);
	if (at < rest.n)
		rest = str_slice(rest, at + 1, rest.n);
	end = str_find(rest, ':', 0);
	return str_slice(rest, 0, end);
}

static void add_host(struct arena *a, struct str host, signs_hosts *out)
{
	if (!is_host(host))
		return;
	host = ascii_lower(a, host);
	vec_each(x, out)
		if (str_eq(*x, host))
			return;
	*vec_push(a, out) = host;
}

void signs_remotes(struct arena *a, struct str config, signs_hosts *out)
{
	bool remote = false;
	struct str line;

	while (str_line(&config, &line)) {
		struct str name, value;
		size_t eq;

		line = str_trim(line);
		if (str_starts(line, STR("["))) {
			remote = str_starts(ascii_lower(a, line),
					    STR("[remote "));
			continue;
		}
		eq = str_find(line, '=', 0);
		name = ascii_lower(a, str_trim(str_slice(line, 0, eq)));
		if (!remote || eq == line.n ||
		    (!str_is(name, "url") && !str_is(name, "pushurl")))
			continue;
		value = str_trim(str_slice(line, eq + 1, line.n));
		if (value.n > 1 && value.p[0] == '"')
			value = str_slice(value, 1, value.n - 1);
		add_host(a, host_of(value), out);
	}
}

static const char *forge_preset(struct str host)
{
	for (size_t i = 0; i < ARRAY_LEN(forges); i++)
		if (str_is(host, forges[i].host))
			return forges[i].preset;
	return NULL;
}

static void find_remotes(int dir, struct proposal *d)
{
	signs_hosts hosts = {0};
	struct str text;
	struct err absent;

	if (fileio_read_inside(d->a, dir, STR(".git/config"),
			       LIMIT_SOURCE_BYTES, &text, &absent) < 0)
		return;
	signs_remotes(d->a, text, &hosts);
	vec_each(h, &hosts) {
		const char *preset = forge_preset(*h);

		if (preset)
			proposal_add(d, PROPOSAL_EXTENDS, str_of(preset),
				     STR("for a remote in .git/config"));
		else
			proposal_unsaid(
				d,
				arena_fmt(d->a, "a remote at %.*s",
					  STR_ARG(*h)),
				arena_fmt(
					d->a,
					"'%.*s:443' or '%.*s:22' in 'allow' lets git reach it",
					STR_ARG(*h), STR_ARG(*h)));
	}
}

void signs_find(int dir, struct proposal *d)
{
	find_tools(dir, d);
	find_remotes(dir, d);
	find_secrets(dir, d);
	find_hints(dir, d);
}
