#include "runtime/launch/session/session.h"

#include "compiler/base/sys/fileio.h"
#include "runtime/launch/mounts/placeholders.h"
#include "runtime/launch/session/foreign.h"
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct err err;

static bool exists(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0;
}

/* Take it in another process: locks of one's own do not count. */
static int take_elsewhere(const struct session *s)
{
	struct session other = *s;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		struct err ignored;

		/* the lock is shared with the parent until closed */
		fd_close(&other.lock_fd);
		other.lock_fd = -1;
		_exit(session_take(&other, &ignored));
	}
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

static void check_life(struct arena *a, const char *state)
{
	struct session s, t;
	sessions list = {0};
	const char *lock;

	CHECK(session_list(a, state, &list, &err) == 0 && list.n == 0);
	CHECK(session_new(a, state, &s, &err) == 0);
	CHECK(session_is_id(str_of(s.id)));
	lock = arena_fmt(a, "%s/lock", s.dir).p;
	CHECK(exists(lock));
	CHECK(take_elsewhere(&s) == SESSION_ALIVE);
	CHECK(session_pid(&s) == getpid());
	CHECK(session_list(a, state, &list, &err) == 0 && list.n == 1);
	CHECK(strcmp(list.v[0].id, s.id) == 0);
	/* died: the lock is let go of, and still there */
	t = s;
	session_release(&s, false);
	CHECK(exists(lock));
	CHECK(take_elsewhere(&s) == SESSION_DEAD);
	t.lock_fd = -1;
	CHECK(session_take(&t, &err) == SESSION_DEAD && t.lock_fd >= 0);
	CHECK(take_elsewhere(&t) == SESSION_ALIVE);
	session_release(&t, true);
	CHECK(!exists(lock) && exists(t.dir));
	CHECK(take_elsewhere(&t) == SESSION_FINISHED);
}

/* Another process goes on with the lock that it was given. */
static void check_inherited(struct arena *a, const char *state)
{
	struct session s;
	int told[2], status;
	char c;
	pid_t pid;

	CHECK(session_new(a, state, &s, &err) == 0 && pipe(told) == 0);
	CHECK(pwrite(s.lock_fd, "2147483647\n", 11, 0) == 11);
	pid = fork();
	if (pid == 0) {
		close(told[1]);
		session_inherit(&s);
		_exit(read(told[0], &c, 1) == 0 ? 0 : 1);
	}
	close(told[0]);
	session_release(&s, false);
	while (session_pid(&s) == 2147483647)
		sched_yield();
	CHECK(session_pid(&s) == pid);
	CHECK(take_elsewhere(&s) == SESSION_ALIVE);
	close(told[1]);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK(session_take(&s, &err) == SESSION_DEAD);
	session_release(&s, true);
}

/* As if all that was done with it had been days ago. */
static void make_old(const struct session *s, long days)
{
	struct timespec t[2];

	clock_gettime(CLOCK_REALTIME, &t[0]);
	t[0].tv_sec -= days * 86400;
	t[1] = t[0];
	CHECK(utimensat(AT_FDCWD, s->dir, t, 0) == 0);
}

static void check_age(struct arena *a, const char *state)
{
	struct session alive, dead, young, old;

	CHECK(session_new(a, state, &alive, &err) == 0);
	CHECK(session_new(a, state, &dead, &err) == 0);
	CHECK(session_new(a, state, &young, &err) == 0);
	CHECK(session_new(a, state, &old, &err) == 0);
	session_release(&dead, false);
	session_release(&young, true);
	session_release(&old, true);
	make_old(&alive, 90);
	make_old(&dead, 90);
	make_old(&young, SESSION_KEEP_S / 86400 - 1);
	make_old(&old, SESSION_KEEP_S / 86400 + 1);
	session_prune(a, state);
	CHECK(exists(alive.dir) && exists(dead.dir) && exists(young.dir));
	CHECK(!exists(old.dir));
	CHECK(session_take(&dead, &err) == SESSION_DEAD);
	session_release(&dead, true);
	session_release(&alive, true);
	session_prune(a, state);
	/* their ends, of which the folders tell, were just now */
	CHECK(exists(alive.dir) && exists(dead.dir));
}

#define OTHER 4242

/* What root makes in a user's state folder, and what it left there before. */
static int check_as_user(struct arena *a, const char *state)
{
	struct session s;
	sessions list = {0};
	int lock;

	CHECK(setgid(OTHER) == 0 && setuid(OTHER) == 0);
	CHECK(session_list(a, state, &list, &err) == 0 && list.n == 2);
	vec_each(one, &list)
		CHECK(session_take(one, &err) == SESSION_DEAD);
	CHECK(foreign_set_aside(a, state, true, &err) == 0);
	CHECK(exists(arena_fmt(a, "%s/holds.lock.of-0", state).p));
	CHECK(exists(arena_fmt(a, "%s/trace.of-0", state).p));
	CHECK(!exists(arena_fmt(a, "%s/sessions.of-0", state).p));
	CHECK(placeholders_lock(state, &lock, &err) == 0);
	CHECK(session_new(a, state, &s, &err) == 0);
	return check_status();
}

static void check_foreign(struct arena *a, const char *top)
{
	const char *state = arena_fmt(a, "%s/theirs", top).p;
	struct session mine, theirs, other;
	int status;
	pid_t pid;

	if (geteuid() != 0)
		return;
	CHECK(chmod(top, 0711) == 0 && mkdir(state, 0700) == 0 &&
	      chown(state, OTHER, OTHER) == 0);
	CHECK(session_new(a, state, &mine, &err) == 0);
	CHECK(session_new(a, state, &theirs, &err) == 0);
	CHECK(session_new(a, state, &other, &err) == 0);
	session_release(&mine, false);
	session_release(&theirs, false);
	session_release(&other, false);
	/* as an older version left it */
	CHECK(chown(other.dir, 0, 0) == 0);
	CHECK(mkdir(arena_fmt(a, "%s/trace", state).p, 0700) == 0);
	status = open(arena_fmt(a, "%s/holds.lock", state).p, O_CREAT | O_RDWR,
		      0600);
	CHECK(status >= 0);
	close(status);
	pid = fork();
	if (pid == 0)
		_exit(check_as_user(a, state));
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

static void check_prune(struct arena *a, const char *state)
{
	struct session alive, s;
	sessions list = {0};

	CHECK(session_new(a, state, &alive, &err) == 0);
	for (unsigned i = 0; i < SESSION_KEEP + 10; i++) {
		CHECK(session_new(a, state, &s, &err) == 0);
		session_release(&s, true);
	}
	session_prune(a, state);
	CHECK(session_list(a, state, &list, &err) == 0);
	CHECK(list.n == SESSION_KEEP + 1);
	CHECK(exists(alive.dir));
	session_release(&alive, true);
}

int main(void)
{
	char dir[] = "/tmp/membrane-session-XXXXXX";
	struct arena *a = arena_new();

	CHECK(mkdtemp(dir) != NULL);
	CHECK(!session_is_id(STR("0123456789aB")));
	CHECK(!session_is_id(STR("0123456789a")));
	CHECK(!session_is_id(STR("../../../../")));
	check_life(a, dir);
	check_inherited(a, dir);
	check_age(a, dir);
	check_prune(a, dir);
	check_foreign(a, dir);
	CHECK(fileio_remove_tree(AT_FDCWD, dir, &err) == 0);
	arena_free(a);
	return check_status();
}
