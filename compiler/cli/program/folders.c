/*
 * Where programs are installed, and what lies beside them. Texts alone: nothing
 * is looked at.
 */
#include "compiler/cli/program/parts.h"

#include "compiler/ir/docker_mount.h"
#include "compiler/ir/visible.h"

/* Of what installs programs; '*' is one segment, whatever it is. */
static const struct str installed[] = {
	STR_INIT("~/.nvm"),	      STR_INIT("~/.config/nvm"),
	STR_INIT("~/.volta"),	      STR_INIT("~/.fnm"),
	STR_INIT("~/.asdf"),	      STR_INIT("~/.pyenv"),
	STR_INIT("~/.rbenv"),	      STR_INIT("~/.nodenv"),
	STR_INIT("~/.goenv"),	      STR_INIT("~/.sdkman"),
	STR_INIT("~/.bun"),	      STR_INIT("~/.deno"),
	STR_INIT("~/.rustup"),	      STR_INIT("~/.linuxbrew"),
	STR_INIT("~/.npm-global"),    STR_INIT("~/.local/bin"),
	STR_INIT("~/.local/share/*"), STR_INIT("~/.local/lib/*"),
	STR_INIT("~/.local/pipx"),    STR_INIT("/home/linuxbrew/.linuxbrew"),
	STR_INIT("/opt/*"),
};

/* The length of the path's beginning that matches, or 0. */
static size_t match_installed(struct str path, struct str row)
{
	size_t i = 0, k = 0;

	while (k < row.n) {
		if (row.p[k] == '*') {
			size_t end = str_find(path, '/', i);

			if (end == i)
				return 0;
			i = end;
			k++;
			continue;
		}
		if (i >= path.n || path.p[i] != row.p[k])
			return 0;
		i++;
		k++;
	}
	return i == path.n || path.p[i] == '/' ? i : 0;
}

static size_t find_text(struct str path, struct str part)
{
	for (size_t i = 0; i + part.n <= path.n; i++)
		if (str_eq(str_slice(path, i, i + part.n), part))
			return i;
	return path.n;
}

/* A prefix of npm's, or the modules of one project. */
static size_t match_modules(struct str path)
{
	static const struct str prefix = STR_INIT("/lib/node_modules/"),
				modules = STR_INIT("/node_modules/");
	size_t at = find_text(path, prefix);

	if (at < path.n)
		return at;
	at = find_text(path, modules);
	return at < path.n ? at + modules.n - 1 : 0;
}

/* What has a folder for its programs: beside it are their libraries. */
static size_t match_tree(struct str path)
{
	static const char *const names[] = {"bin", "sbin", "libexec", "shims"};
	struct str dir = str_parent(path), above = str_parent(dir);
	struct str name = str_slice(dir, above.n + 1, dir.n);

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (above.n && str_is(name, names[i]))
			return above.n;
	return dir.n ? dir.n : path.n;
}

static size_t widest(struct str path)
{
	size_t n;

	for (size_t i = 0; i < ARRAY_LEN(installed); i++) {
		n = match_installed(path, installed[i]);
		if (n)
			return n;
	}
	n = match_modules(path);
	return n ? n : match_tree(path);
}

struct str folders_of(struct str path, unsigned n)
{
	size_t end = widest(path);

	for (; n > 0 && end < path.n; n--)
		end = str_find(path, '/', end + 1);
	return n > 0 ? (struct str){0} : str_slice(path, 0, end);
}

/* Places with all kinds of things in them. */
static bool is_wide(struct str folder)
{
	static const char *const wide[] = {
		"~/.config",	"~/.local",    "~/.local/share",
		"~/.local/lib", "~/.cache",    "~/.local/state",
		"~/Desktop",	"~/Documents", "~/Downloads",
		"~/.var",	"~/snap"};
	struct str parent = str_parent(folder);

	for (size_t i = 0; i < ARRAY_LEN(wide); i++)
		if (str_is(folder, wide[i]))
			return true;
	/* "/opt", "/srv", "/mnt" */
	return folder.n && folder.p[0] == '/' && parent.n == 0;
}

static const struct str logins[] = {
	STR_INIT("~/.ssh"),
	STR_INIT("~/.gnupg"),
	STR_INIT("~/.aws"),
	STR_INIT("~/.azure"),
	STR_INIT("~/.kube"),
	STR_INIT("~/.docker"),
	STR_INIT("~/.password-store"),
	STR_INIT("~/.mozilla"),
	STR_INIT("~/.thunderbird"),
	STR_INIT("~/.netrc"),
	STR_INIT("~/.npmrc"),
	STR_INIT("~/.pypirc"),
	STR_INIT("~/.git-credentials"),
	STR_INIT("~/.config/gh"),
	STR_INIT("~/.config/gcloud"),
	STR_INIT("~/.config/op"),
	STR_INIT("~/.config/hub"),
	STR_INIT("~/.config/google-chrome"),
	STR_INIT("~/.config/chromium"),
	STR_INIT("~/.config/github-copilot"),
	STR_INIT("~/.local/share/keyrings"),
	STR_INIT("~/.local/share/opencode/auth.json"),
	STR_INIT("~/.cargo/credentials"),
	STR_INIT("~/.cargo/credentials.toml"),
	STR_INIT("~/.claude/.credentials.json"),
	STR_INIT("~/.claude.json"),
	STR_INIT("~/.codex/auth.json"),
	STR_INIT("~/.gemini/oauth_creds.json"),
	STR_INIT("~/.pi/agent/auth.json"),
	STR_INIT("~/.vault-token"),
};

const char *folders_fault(struct str folder)
{
	const char *fault = visible_fault(folder);

	if (fault)
		return fault;
	if (is_wide(folder))
		return "holds all kinds of things";
	for (size_t i = 0; i < ARRAY_LEN(logins); i++)
		if (docker_mount_within(logins[i], folder) ||
		    docker_mount_within(folder, logins[i]))
			return "is where logins and keys are kept";
	return NULL;
}
