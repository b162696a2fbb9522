/*
 * membrane-view PLAN SOURCE MOUNTPOINT: a workspace in which what the policy
 * hides is empty and what it keeps cannot be changed, whatever happens to it.
 * compiler/plan/view_hello.h has what is said on stdin and stdout.
 *
 * Two processes: the one here mounts and unmounts, the server (serve.h) answers
 * what is asked of the mount. None outlives the other.
 *
 * membrane-view --unmount MOUNTPOINT: take away what one that was killed left.
 */
#include "runtime/view/mount.h"
#include "runtime/view/serve.h"
#include "runtime/view/supervise.h"

#include "compiler/base/limits.h"
#include "compiler/base/sys/fileio.h"
#include "compiler/base/sys/signals.h"
#include "compiler/plan/view_hello.h"
#include "runtime/view/rights.h"
#include "runtime/view/say.h"
#include "version.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define MOUNTS_MAX 64 /* on top of each other, taken away */

struct start {
	struct arena *a;
	const char *plan, *source, *at;
	struct str said; /* read behind "go" */
	struct hello hello;
	struct mountsplan rules;
	int fuse, folder; /* /dev/fuse; the workspace */
};

/* --- reading -------------------------------------------------------------- */

static bool has_go(struct str text)
{
	static const char end[] = "\n" VIEW_HELLO_GO "\n";

	return memmem(text.p, text.n, end, sizeof(end) - 1);
}

static int read_stdin(struct start *s, struct err *err)
{
	struct str text = {arena_alloc(s->a, 0), 0};
	size_t used = 0;
	int rc;

	while (!has_go(text) && text.n <= VIEW_HELLO_BYTES_MAX) {
		char more[4096];
		ssize_t n = read(STDIN_FILENO, more, sizeof(more));
		char *p;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_set(
				err, -EPIPE,
				"the launcher is gone before it said '" VIEW_HELLO_GO
				"'");
		p = arena_grow(s->a, (char *)(uintptr_t)text.p, text.n,
			       text.n + (size_t)n);
		memcpy(p + text.n, more, (size_t)n);
		text = (struct str){p, text.n + (size_t)n};
	}
	rc = hello_read(s->a, text, &s->hello, &used, err);
	if (rc == 0 && used == 0)
		rc = err_set(err, -E2BIG, "the launcher says too much");
	s->said = str_slice(text, used, text.n);
	return rc;
}

static int open_source(struct start *s, struct err *err)
{
	struct stat st;

	s->folder =
		open(s->source, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (s->folder < 0 || fstat(s->folder, &st) < 0)
		return err_errno(err, s->source);
	if (st.st_dev == s->hello.dev && st.st_ino == s->hello.ino)
		return 0;
	return err_set(err, -ESTALE,
		       "%s: not the folder that the launcher looked at",
		       s->source);
}

static int read_start(struct start *s, struct err *err)
{
	struct str text;
	int rc = read_stdin(s, err);

	if (rc == 0)
		rc = mount_open(&s->fuse, err);
	if (rc == 0)
		rc = rights_to_look(s->hello.uid, s->hello.gid, err);
	if (rc == 0)
		rc = fileio_read(s->a, AT_FDCWD, s->plan, LIMIT_PLAN_BYTES,
				 &text, err);
	if (rc == 0)
		rc = mountsplan_read(s->a, text, &s->rules, err);
	return rc == 0 ? open_source(s, err) : rc;
}

/* --- two processes -------------------------------------------------------- */

static int serve_here(const struct start *s, int out, int control, pid_t parent)
{
	return serve(&(struct serve){.a = s->a,
				     .hello = &s->hello,
				     .plan = &s->rules,
				     .fuse = s->fuse,
				     .source = s->folder,
				     .out = out,
				     .control = control,
				     .parent = parent});
}

static int start_server(const struct start *s, struct supervise *v,
			struct err *err)
{
	int out[2], control[2];
	pid_t self = getpid();

	if (pipe2(out, O_CLOEXEC) < 0 || pipe2(control, O_CLOEXEC) < 0)
		return err_errno(err, "pipe");
	v->server = fork();
	if (v->server < 0)
		return err_errno(err, "fork");
	if (v->server == 0) {
		close(out[0]);
		close(control[1]);
		close(v->signals);
		close(STDIN_FILENO);
		close(STDOUT_FILENO);
		_exit(serve_here(s, out[1], control[0], self));
	}
	close(out[1]);
	close(control[0]);
	close(s->fuse);
	close(s->folder);
	v->lines = out[0];
	v->control = control[1];
	return rights_to_unmount(err);
}

static int run_view(struct start *s)
{
	struct supervise v = {.at = s->at};
	struct err err = {0};
	int rc;

	v.signals = signals_open(true, &err);
	rc = v.signals < 0 ? v.signals : read_start(s, &err);
	if (rc == 0)
		rc = mount_view(s->at, s->fuse, s->hello.uid, s->hello.gid,
				&err);
	if (rc == 0) {
		rc = start_server(s, &v, &err);
		if (rc < 0)
			mount_remove(s->at);
	}
	if (rc < 0) {
		say_error(STDOUT_FILENO, &err);
		return 1;
	}
	return supervise(&v, s->said);
}

/* All that is there: one may be on top of another. */
static int unmount_all(const char *at)
{
	for (int i = 0; i < MOUNTS_MAX && mount_remove(at); i++)
		;
	return 0;
}

int main(int argc, char **argv)
{
	struct start s = {.fuse = -1, .folder = -1};
	int status;

	if (argc == 2 && strcmp(argv[1], "--version") == 0) {
		puts("membrane-view " MEMBRANE_VERSION);
		return 0;
	}
	if (argc == 3 && strcmp(argv[1], "--unmount") == 0)
		return unmount_all(argv[2]);
	if (argc != 4) {
		fputs("usage: membrane-view PLAN SOURCE MOUNTPOINT\n"
		      "       membrane-view --unmount MOUNTPOINT\n",
		      stderr);
		return 2;
	}
	arena_failure(1);
	s.a = arena_new();
	s.plan = argv[1];
	s.source = argv[2];
	s.at = argv[3];
	status = run_view(&s);
	arena_free(s.a);
	return status;
}
