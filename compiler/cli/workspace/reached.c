#include "compiler/cli/workspace/reached.h"

#include "compiler/base/sys/pathwalk.h"
#include "compiler/cli/text/confirm.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/text/view.h"
#include "runtime/launch/workspace/workspaces.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

struct search {
	struct workspaces_ask ask;
	struct inputs *in;
};

/* The first of each kind. */
static int note_link(void *ctx, int dirfd, struct str path, struct err *err)
{
	struct search *s = ctx;

	(void)err;
	if (s->in->link.n == 0)
		s->in->link = path;
	if (s->in->agents_link.n == 0 && workspaces_hold(&s->ask, dirfd))
		s->in->agents_link = path;
	return 0;
}

/* What a shell calls the current folder; NULL when that is another one. */
static const char *shells_name(void)
{
	const char *pwd = getenv("PWD");
	struct stat here, there;

	if (!pwd || pwd[0] != '/' || stat(".", &here) < 0 ||
	    stat(pwd, &there) < 0 || here.st_dev != there.st_dev ||
	    here.st_ino != there.st_ino)
		return NULL;
	return pwd;
}

int reached_find(struct arena *a, const char *where, struct inputs *in,
		 struct err *err)
{
	struct search s = {{a, in->state, NULL}, in};
	struct pathwalk w = {.on_link = note_link, .ctx = &s};
	const char *pwd = where[0] == '/' ? NULL : shells_name();
	struct pathwalk_end at;
	int rc;

	in->link = in->agents_link = STR("");
	if (pwd)
		where = arena_fmt(a, "%s/%s", pwd, where).p;
	rc = pathwalk_find(a, &w, AT_FDCWD, where, &at, err);
	if (rc < 0)
		return rc;
	fd_close(&at.dir_fd);
	if (str_is(at.path, in->workspace))
		return 0;
	return err_set(
		err, -ESTALE,
		"the workspace %s: it is %s, and was another folder just now",
		where, in->workspace);
}

static struct str reached_words(struct arena *a, const struct inputs *in)
{
	struct str link = in->agents_link.n ? in->agents_link : in->link;

	return arena_fmt(a, "the workspace is %s (reached through the link %s)",
			 view_cleaned(a, str_of(in->workspace)).p,
			 view_cleaned(a, link).p);
}

void reached_say(struct arena *a, const struct inputs *in)
{
	if (in->link.n)
		console_error(
			"%s%s", reached_words(a, in).p,
			in->agents_link.n
				? ": an agent could have made that, so 'run' asks"
				: "");
}

static void say_no(struct arena *a, const struct inputs *in)
{
	struct buf b;

	buf_init(&b, a);
	buf_adds(&b, "--workspace ");
	view_shell_word(&b, str_of(in->workspace));
	console_error("%s", reached_words(a, in).p);
	console_error(
		"that link lies where an agent could write, and may be its work; there is no terminal to ask at\n"
		"  if that folder is what you mean, name it: %s",
		view_cleaned(a, buf_str(&b)).p);
}

bool reached_allowed(struct arena *a, const struct inputs *in)
{
	auto_fd int tty = -1;
	struct str text = arena_fmt(
		a,
		"membrane: %s\n"
		"That link lies where an agent could write, and may be its work.\n",
		reached_words(a, in).p);

	if (in->agents_link.n == 0) {
		reached_say(a, in);
		return true;
	}
	tty = confirm_terminal();
	if (tty < 0) {
		say_no(a, in);
		return false;
	}
	if (confirm_ask(tty, text,
			STR("Is that the folder that you mean? [y/N] ")))
		return true;
	console_error("nothing was done");
	return false;
}
