/* `membrane init`: a first .membrane.yaml, with presets for what is there. */
#include "compiler/base/sys/fileio.h"
#include "compiler/base/limits.h"
#include "compiler/cli/frame/options.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/text/view.h"
#include "compiler/front/front.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* What lies in a workspace, and the preset that its tools need. */
static const struct {
	const char *file, *holds, *preset;
} signs[] = {
	{"package.json", NULL, "npm"},
	{"pyproject.toml", NULL, "pypi"},
	{"requirements.txt", NULL, "pypi"},
	{"Cargo.toml", NULL, "crates"},
	{"go.mod", NULL, "go"},
	{".git/config", "github.com", "github"},
	{".git/config", "gitlab.com", "gitlab"},
	{".git/config", "bitbucket.org", "bitbucket"},
};

static bool shows_sign(struct arena *a, int dir, size_t i)
{
	struct str text;
	struct err err;

	if (fileio_read(a, dir, signs[i].file, LIMIT_SOURCE_BYTES, &text,
			&err) < 0)
		return false;
	return !signs[i].holds ||
	       (text.n &&
		memmem(text.p, text.n, signs[i].holds, strlen(signs[i].holds)));
}

static void write_extends(struct arena *a, int dir, struct buf *out)
{
	const char *last = "";

	for (size_t i = 0; i < ARRAY_LEN(signs); i++) {
		if (!strcmp(signs[i].preset, last) || !shows_sign(a, dir, i))
			continue;
		buf_addf(out, "%s  - %s  # for %s\n", *last ? "" : "extends:\n",
			 signs[i].preset, signs[i].file);
		last = signs[i].preset;
	}
	if (!*last)
		buf_adds(out, "# extends:\n#   - npm\n");
}

static struct str policy_text(struct arena *a, int dir)
{
	struct buf b;

	buf_init(&b, a);
	buf_adds(&b,
		 "# What an agent may reach, see and change here, on top of\n"
		 "# ~/.membrane/config.yaml. 'membrane plan' shows the whole.\n"
		 "\n");
	write_extends(a, dir, &b);
	buf_adds(&b,
		 "\n"
		 "# allow:\n"
		 "#   - api.example.com:443\n"
		 "#   - dest: \"*.example.com\"  # one label\n"
		 "#     ports: [443, 8000-8999]\n"
		 "# deny:\n"
		 "#   - 192.0.2.0/24\n"
		 "\n"
		 "# ignore:      # there, but empty; gitignore syntax\n"
		 "#   - secrets/\n"
		 "# readonly:\n"
		 "#   - /vendor/\n"
		 "\n"
		 "# tests:       # 'membrane test' holds the policy to them\n"
		 "#   allow: [GET https://api.example.com/]\n"
		 "#   deny: [read .env]\n"
		 "#   never: [{dest: \"**.internal\"}]\n");
	return buf_str(&b);
}

int command_init(struct arena *a, const struct options *o)
{
	const char *where = options_value(a, o, OPTION_WORKSPACE, ".");
	auto_fd int dir = open(where, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct err err;
	struct stat st;

	if (dir < 0) {
		console_error("the workspace %s: %s",
			      view_cleaned(a, str_of(where)).p,
			      strerror(errno));
		return STATUS_IO;
	}
	if (fstatat(dir, FRONT_POLICY, &st, AT_SYMLINK_NOFOLLOW) == 0 ||
	    fstatat(dir, FRONT_POLICY_OLDER, &st, 0) == 0) {
		console_error("there is a policy already, and it stays");
		return STATUS_REFUSED;
	}
	if (fileio_write(dir, FRONT_POLICY, policy_text(a, dir), 0644, &err) <
	    0) {
		console_error("%s", view_cleaned(a, str_of(err.text)).p);
		return STATUS_IO;
	}
	console_error("wrote " FRONT_POLICY);
	return STATUS_OK;
}
