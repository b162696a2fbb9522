/*
 * membrane-view PLAN SOURCE MOUNTPOINT [HOME MOUNTPOINT]: a workspace in which
 * what the policy hides is empty and what it keeps cannot be changed, whatever
 * happens to it; and the agent's home, where what is protected is for one
 * program. compiler/plan/view_hello.h has what is said on stdin and stdout.
 *
 * The process here mounts and unmounts, a server (serve.h) for each mount
 * answers what is asked of it. None outlives the others.
 *
 * membrane-view --unmount MOUNTPOINT…: take away what one that was killed left.
 */
#include "runtime/view/mount.h"
#include "runtime/view/parts.h"

#include "compiler/base/limits.h"
#include "compiler/base/sys/fileio.h"
#include "compiler/base/sys/signals.h"
#include "compiler/plan/files.h"
#include "compiler/plan/view_hello.h"
#include "runtime/view/rights.h"
#include "runtime/view/say.h"
#include "version.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define MOUNTS_MAX 64 /* on top of each other, taken away */

/* One that is viewed: the workspace, or the agent's home. */
struct folder {
	const char *source, *at;
	struct hello hello;
	int fuse, fd; /* /dev/fuse; the folder */
};

struct start {
	struct arena *a;
	const char *plan;
	struct folder folders[SUPERVISE_MAX];
	unsigned n;
	struct str said; /* read behind the last "go" */
	struct mountsplan rules;
	/* git's, of the plan; empty: not wanted, or none */
	struct str attributes, exclude;
	int beside; /* the folder that a repository lies in; -1 */
};

/* --- reading -------------------------------------------------------------- */

/* As many as there are folders? */
static bool has_gos(struct str text, unsigned n)
{
	static const char end[] = "\n" VIEW_HELLO_GO "\n";
	const char *at = text.p;

	while (n > 0) {
		at = memmem(at, text.n - (size_t)(at - text.p), end,
			    sizeof(end) - 1);
		if (!at)
			return false;
		at += sizeof(end) - 2;
		n--;
	}
	return true;
}

static int read_hellos(struct start *s, struct str text, struct err *err)
{
	for (unsigned i = 0; i < s->n; i++) {
		size_t used = 0;
		int rc = hello_read(s->a, text, &s->folders[i].hello, &used,
				    err);

		if (rc < 0)
			return rc;
		if (used == 0)
			return err_set(err, -E2BIG,
				       "the launcher says too much");
		text = str_slice(text, used, text.n);
	}
	s->said = text;
	return 0;
}

static int read_stdin(struct start *s, struct err *err)
{
	struct str text = {arena_alloc(s->a, 0), 0};

	while (!has_gos(text, s->n) && text.n <= VIEW_HELLO_BYTES_MAX) {
		char more[65536];
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
	return read_hellos(s, text, err);
}

static int open_source(struct folder *f, struct err *err)
{
	struct stat st;

	f->fd = open(f->source, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (f->fd < 0 || fstat(f->fd, &st) < 0)
		return err_errno(err, f->source);
	if (st.st_dev == f->hello.dev && st.st_ino == f->hello.ino)
		return 0;
	return err_set(err, -ESTALE,
		       "a folder was replaced while the session started");
}

/* The repository is mounted in a folder of this container's, which has nothing
 * else in it. */
static int open_beside(struct start *s, struct err *err)
{
	struct stat st;

	if (lstat(VIEW_HELLO_REPOSITORY, &st) < 0)
		return err_errno(err, VIEW_HELLO_REPOSITORY);
	if (st.st_dev != s->folders[0].hello.repository_dev ||
	    st.st_ino != s->folders[0].hello.repository_ino)
		return err_set(
			err, -ESTALE,
			"the repository was replaced while the session started");
	s->beside = open(VIEW_HELLO_REPOSITORY_DIR,
			 O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return s->beside < 0 ? err_errno(err, VIEW_HELLO_REPOSITORY_DIR) : 0;
}

/* Beside the plan that is read. */
static int read_list(struct start *s, const char *name, struct str *out,
		     struct err *err)
{
	struct str dir = str_parent(str_of(s->plan));
	struct str path = arena_fmt(s->a, "%.*s/%s", STR_ARG(dir), name);

	return fileio_read(s->a, AT_FDCWD, path.p, LIMIT_PLAN_BYTES, out, err);
}

/* A plan that hides nothing has no lists. */
static int read_lists(struct start *s, struct err *err)
{
	int rc = read_list(s, PLAN_GIT_ATTRIBUTES, &s->attributes, err);

	if (rc == 0)
		rc = read_list(s, PLAN_GIT_EXCLUDE, &s->exclude, err);
	return rc == -ENOENT ? 0 : rc;
}

static int read_start(struct start *s, struct err *err)
{
	const struct hello *h = &s->folders[0].hello;
	struct str text;
	int rc = read_stdin(s, err);

	for (unsigned i = 0; i < s->n && rc == 0; i++)
		rc = mount_open(&s->folders[i].fuse, err);
	if (rc == 0)
		rc = rights_to_look(h->uid, h->gid, err);
	if (rc == 0)
		rc = fileio_read(s->a, AT_FDCWD, s->plan, LIMIT_PLAN_BYTES,
				 &text, err);
	if (rc == 0)
		rc = mountsplan_read(s->a, text, &s->rules, err);
	if (rc == 0 && h->part.n)
		rc = read_lists(s, err);
	else if (rc == 0 && h->filtered)
		rc = read_list(s, PLAN_GIT_ATTRIBUTES, &s->attributes, err);
	for (unsigned i = 0; i < s->n && rc == 0; i++)
		rc = open_source(&s->folders[i], err);
	return rc == 0 && h->has_repository ? open_beside(s, err) : rc;
}

/* --- the processes -------------------------------------------------------- */

struct pipes {
	int out[2], control[2], who[2];
};

static int make_pipes(const struct start *s, struct pipes *p, struct err *err)
{
	p->who[0] = p->who[1] = -1;
	if (pipe2(p->out, O_CLOEXEC) < 0 || pipe2(p->control, O_CLOEXEC) < 0)
		return err_errno(err, "pipe");
	if (s->n > 1 &&
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, p->who) < 0)
		return err_errno(err, "socketpair");
	return 0;
}

static int serve_here(const struct start *s, unsigned i, const struct pipes *p,
		      pid_t parent)
{
	const struct folder *f = &s->folders[i];
	struct err err = {0};

	/* Where threads are told by the host's numbers, no other is seen. */
	if (s->n > 1 && rights_alone(&err) < 0) {
		say_error(p->out[1], &err);
		return 1;
	}
	return serve(&(struct serve){.a = s->a,
				     .hello = &f->hello,
				     .plan = &s->rules,
				     .attributes = s->attributes,
				     .exclude = s->exclude,
				     .fuse = f->fuse,
				     .source = f->fd,
				     .beside = i > 0 ? -1 : s->beside,
				     .home = i > 0,
				     .who = i > 0 ? p->who[1] : -1,
				     .out = p->out[1],
				     .control = p->control[0],
				     .parent = s->n > 1 ? 0 : parent});
}

static void leave_rest(const struct start *s, unsigned i, const struct pipes *p,
		       int signals)
{
	for (unsigned k = 0; k < s->n; k++) {
		if (k == i)
			continue;
		close(s->folders[k].fuse);
		close(s->folders[k].fd);
	}
	if (i > 0 && s->beside >= 0)
		close(s->beside);
	close(p->out[0]);
	close(p->control[1]);
	if (p->who[0] >= 0)
		close(p->who[0]);
	if (i == 0 && p->who[1] >= 0)
		close(p->who[1]);
	close(signals);
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
}

static int start_servers(const struct start *s, struct supervise *v,
			 struct err *err)
{
	const struct folder *work = &s->folders[0];
	struct pipes p;
	pid_t self = getpid();
	int rc = 0;

	if (make_pipes(s, &p, err) < 0)
		return err->code;
	if (s->n > 1 && unshare(CLONE_NEWPID) < 0)
		return err_errno(err, "unshare");
	for (unsigned i = 0; i < s->n; i++) {
		v->server[i] = fork();
		if (v->server[i] < 0)
			return err_errno(err, "fork");
		if (v->server[i] == 0) {
			leave_rest(s, i, &p, v->signals);
			_exit(serve_here(s, i, &p, self));
		}
	}
	for (unsigned i = 0; i < s->n; i++)
		close(s->folders[i].fuse);
	/* All of it is read-only: a folder past the view would not be. */
	if (!work->hello.readonly)
		rc = fast_bind(work->fd, work->at, &s->rules, err);
	for (unsigned i = 0; i < s->n; i++)
		close(s->folders[i].fd);
	if (s->beside >= 0)
		close(s->beside);
	close(p.out[1]);
	close(p.control[0]);
	fd_close(&p.who[1]);
	v->lines = p.out[0];
	v->control = p.control[1];
	v->who = p.who[0];
	v->program = s->folders[s->n - 1].hello.program;
	return rc < 0 ? rc : rights_to_unmount(s->n > 1, err);
}

/* All, or none. */
static int mount_all(const struct start *s, struct supervise *v,
		     struct err *err)
{
	int rc = 0;

	for (; v->n < s->n && rc == 0; v->n++) {
		const struct folder *f = &s->folders[v->n];

		v->at[v->n] = f->at;
		rc = mount_view(f->at, f->fuse, f->hello.uid, f->hello.gid,
				err);
		if (rc < 0)
			break;
	}
	if (rc == 0)
		rc = start_servers(s, v, err);
	for (unsigned i = 0; i < v->n && rc < 0; i++)
		mount_remove(v->at[i]);
	return rc;
}

static int run_view(struct start *s)
{
	struct supervise v = {.who = -1};
	struct err err = {0};
	int rc;

	v.signals = signals_open(true, &err);
	rc = v.signals < 0 ? v.signals : read_start(s, &err);
	if (rc == 0)
		rc = mount_all(s, &v, &err);
	if (rc < 0) {
		say_error(STDOUT_FILENO, &err);
		return 1;
	}
	return supervise(&v, s->said);
}

/* All that is there: one may be on top of another. */
static int unmount_all(char *const *at)
{
	for (; *at; at++)
		for (int i = 0; i < MOUNTS_MAX && mount_remove(*at); i++)
			;
	return 0;
}

int main(int argc, char **argv)
{
	struct start s = {.beside = -1};
	int status;

	if (argc == 2 && strcmp(argv[1], "--version") == 0) {
		puts("membrane-view " MEMBRANE_VERSION);
		return 0;
	}
	if (argc >= 3 && strcmp(argv[1], "--unmount") == 0)
		return unmount_all(argv + 2);
	if (argc != 4 && argc != 6) {
		fputs("usage: membrane-view PLAN SOURCE MOUNTPOINT [HOME MOUNTPOINT]\n"
		      "       membrane-view --unmount MOUNTPOINT...\n",
		      stderr);
		return 2;
	}
	arena_failure(1);
	s.a = arena_new();
	s.plan = argv[1];
	for (int i = 2; i < argc; i += 2)
		s.folders[s.n++] = (struct folder){.source = argv[i],
						   .at = argv[i + 1],
						   .fuse = -1,
						   .fd = -1};
	status = run_view(&s);
	arena_free(s.a);
	return status;
}
