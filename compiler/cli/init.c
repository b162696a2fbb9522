/* `membrane init`: a first .membrane.yaml, by what is there, or by a file. */
#include "compiler/base/sys/fileio.h"
#include "compiler/base/buf.h"
#include "compiler/base/limits.h"
#include "compiler/cli/frame/options.h"
#include "compiler/cli/init/from.h"
#include "compiler/cli/init/signs.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/text/view.h"
#include "compiler/front/front.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define HEAD                                                                   \
	"# What an agent may reach, see and change here, on top of\n"          \
	"# ~/.membrane/config.yaml. 'membrane plan' shows the whole.\n"

static struct str base_name(struct str path)
{
	size_t at = path.n;

	while (at > 0 && path.p[at - 1] != '/')
		at--;
	return str_slice(path, at, path.n);
}

static struct str real_path(struct arena *a, const char *path)
{
	char *real = realpath(path, NULL);
	struct str out = real ? arena_str(a, str_of(real)) : STR("");

	free(real);
	return out;
}

static int proposal_by(const char *file, const char *where, struct proposal *d,
		       struct str *out)
{
	struct arena *a = d->a;
	struct str text, name = base_name(str_of(file));
	struct err err;
	int rc =
		fileio_read(a, AT_FDCWD, file, LIMIT_SOURCE_BYTES, &text, &err);

	if (rc < 0) {
		console_error("%s", view_cleaned(a, str_of(err.text)).p);
		return STATUS_IO;
	}
	rc = from_settings(name, text, real_path(a, where), d, &err);
	if (rc < 0) {
		console_error("%s: %s", view_cleaned(a, str_of(file)).p,
			      view_cleaned(a, str_of(err.text)).p);
		return STATUS_REFUSED;
	}
	*out = proposal_text(
		d,
		STR(HEAD
		    "# By 'membrane init --from': read it before you use it.\n"),
		false);
	return STATUS_OK;
}

static bool has_policy(int dir)
{
	struct stat st;

	return fstatat(dir, FRONT_POLICY, &st, AT_SYMLINK_NOFOLLOW) == 0 ||
	       fstatat(dir, FRONT_POLICY_OLDER, &st, 0) == 0;
}

static void say_written(const struct proposal *d, bool from)
{
	if (from && d->unsaid.n)
		console_error("wrote " FRONT_POLICY
			      "; what it does not say is in its comments (%u)",
			      d->unsaid.n);
	else
		console_error("wrote " FRONT_POLICY);
}

int command_init(struct arena *a, const struct options *o)
{
	const char *where = options_value(a, o, OPTION_WORKSPACE, ".");
	const char *from = options_value(a, o, OPTION_FROM, NULL);
	struct proposal d = {.a = a};
	struct str text;
	int status = STATUS_OK;
	auto_fd int dir = open(where, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct err err;

	if (dir < 0) {
		console_error("the workspace %s: %s",
			      view_cleaned(a, str_of(where)).p,
			      strerror(errno));
		return STATUS_IO;
	}
	if (has_policy(dir)) {
		console_error("there is a policy already, and it stays");
		return STATUS_REFUSED;
	}
	if (from) {
		status = proposal_by(from, where, &d, &text);
	} else {
		signs_find(dir, &d);
		text = proposal_text(&d, STR(HEAD), true);
	}
	if (status != STATUS_OK)
		return status;
	if (fileio_write(dir, FRONT_POLICY, text, 0644, &err) < 0) {
		console_error("%s", view_cleaned(a, str_of(err.text)).p);
		return STATUS_IO;
	}
	say_written(&d, from != NULL);
	return STATUS_OK;
}
