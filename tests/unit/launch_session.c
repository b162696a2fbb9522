#include "runtime/launch/session.h"

#include "compiler/base/fileio.h"
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

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
	check_prune(a, dir);
	CHECK(fileio_remove_tree(AT_FDCWD, dir, &err) == 0);
	arena_free(a);
	return check_status();
}
