/*
 * What is left of sessions whose launchers are gone, or are told to go, and a
 * Docker of canned answers that is asked to remove it.
 */
#include "runtime/launch/reap.h"

#include "compiler/base/buf.h"
#include "compiler/base/sys/fileio.h"
#include "runtime/launch/launch.h"
#include "tests/check.h"
#include "tests/unit/docker_standin.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#define GATE_ID	 "aaaaaaaaaaaaaaaa"
#define AGENT_ID "bbbbbbbbbbbbbbbb"

static char dir[] = "/tmp/membrane-reap.XXXXXX";
static struct err err;
static const char *state;
static struct endpoint at = {.base = "http://localhost"};
static int heard; /* what Docker is asked for, a line each */

/* --- sessions ------------------------------------------------------------- */

static struct session finished_session(struct arena *a)
{
	struct session s;

	CHECK(session_new(a, state, &s, &err) == 0);
	session_release(&s, true);
	return s;
}

/* As kill -9 of its launcher leaves it. */
static struct session dead_session(struct arena *a)
{
	struct session s;

	CHECK(session_new(a, state, &s, &err) == 0);
	session_release(&s, false);
	return s;
}

/*
 * One whose launcher ends on SIGTERM, as launchers do. A child that has ended
 * is still there to be asked for: what waits for it is the lock.
 */
static struct session living_session(struct arena *a, pid_t *pid)
{
	struct session s;

	CHECK(session_new(a, state, &s, &err) == 0);
	*pid = fork();
	if (*pid == 0) {
		session_inherit(&s);
		pause();
		_exit(1);
	}
	while (session_pid(&s) != *pid)
		poll(NULL, 0, 1);
	fd_close(&s.lock_fd);
	s.lock_fd = -1;
	return s;
}

static int state_of(struct session s)
{
	int rc = session_take(&s, &err);

	if (rc == SESSION_DEAD)
		session_release(&s, false);
	return rc;
}

static void begin_state(struct arena *a, const char *name)
{
	state = arena_fmt(a, "%s/%s", dir, name).p;
	CHECK(fileio_mkdirs(state, 0700, &err) == 0);
}

/* --- a Docker ------------------------------------------------------------- */

/* That has the gate's and the agent's container of one session, and its link.
 */
static pid_t start_docker(struct arena *a, const char *session, int removed)
{
	struct standin_answer rows[] = {
		{"GET /_ping", 200, "OK"},
		{"GET /v1.48/containers/json", 200, NULL},
		{"GET /v1.48/networks?filters=", 200, NULL},
		{"DELETE /v1.48/containers/", removed,
		 "{\"message\":\"it is just starting\"}"},
		{"DELETE /v1.48/networks/", 204, ""},
	};

	rows[1].body = arena_fmt(a,
				 "[{\"Id\":\"" GATE_ID
				 "\",\"Names\":[\"/membrane-gate-%s\"],"
				 "\"Labels\":{\"membrane.session\":\"%s\"}},"
				 "{\"Id\":\"" AGENT_ID
				 "\",\"Names\":[\"/membrane-agent-%s\"],"
				 "\"Labels\":{\"membrane.session\":\"%s\"}}]",
				 session, session, session, session)
			       .p;
	rows[2].body = arena_fmt(a,
				 "[{\"Id\":\"link\",\"Labels\":"
				 "{\"membrane.session\":\"%s\"}},"
				 "{\"Id\":\"other\",\"Labels\":{}}]",
				 session)
			       .p;
	return standin_start(at.socket, rows, ARRAY_LEN(rows));
}

static void end_docker(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	unlink(at.socket);
}

/* What it was asked to remove until now, by name: "link ". */
static const char *removed_now(struct arena *a)
{
	static char text[32768];
	ssize_t n = read(heard, text, sizeof(text));
	struct str rest = {text, n > 0 ? (size_t)n : 0};
	struct buf out;

	buf_init(&out, a);
	while (rest.n) {
		size_t end = str_find(rest, '\r', 0);
		struct str verb = STR("DELETE /v1.48/");
		struct str name = str_slice(rest, 0, end);

		rest = str_slice(rest, end + 1, rest.n);
		if (!str_starts(name, verb))
			continue;
		name = str_slice(name, str_find(name, '/', verb.n) + 1, name.n);
		buf_add(&out, str_slice(name, 0, strcspn(name.p, "? ")));
		buf_addc(&out, ' ');
	}
	return arena_cstr(a, buf_str(&out));
}

#define ALL AGENT_ID " " GATE_ID " link "

/* --- the dead ------------------------------------------------------------- */

static void the_dead_are_removed(struct arena *a)
{
	struct session over, dead, living;
	struct docker *d = NULL;
	unsigned ended = 0;
	pid_t launcher, docker;

	begin_state(a, "dead");
	CHECK(reap_dead(a, state, &at, &d, &ended, &err) == 0 && !d);
	over = finished_session(a);
	living = living_session(a, &launcher);
	/* nobody is asked where there is nothing to remove */
	CHECK(reap_dead(a, state, &at, &d, &ended, &err) == 0 && !d);
	CHECK(!reap_is_under_way(a, state));
	dead = dead_session(a);
	CHECK(reap_is_under_way(a, state));
	docker = start_docker(a, dead.id, 204);
	CHECK(reap_dead(a, state, &at, &d, &ended, &err) == 0 && d);
	CHECK(ended == 1);
	CHECK(strcmp(removed_now(a), ALL) == 0);
	CHECK(state_of(dead) == SESSION_FINISHED);
	CHECK(state_of(over) == SESSION_FINISHED);
	CHECK(state_of(living) == SESSION_ALIVE);
	CHECK(!reap_is_under_way(a, state));
	docker_close(d);
	end_docker(docker);
	kill(launcher, SIGKILL);
	waitpid(launcher, NULL, 0);
	CHECK(reap_is_under_way(a, state)); /* the last one's, now */
}

/* A lock that is held, by somebody who is not who it says. */
static void a_launcher_may_be_gone(struct arena *a)
{
	struct session s;

	begin_state(a, "gone");
	CHECK(session_new(a, state, &s, &err) == 0);
	CHECK(!reap_is_under_way(a, state));
	CHECK(pwrite(s.lock_fd, "2147483647\n", 11, 0) == 11);
	CHECK(reap_is_under_way(a, state));
	session_release(&s, true);
	CHECK(!reap_is_under_way(a, state));
}

static void what_cannot_be_removed_stays_dead(struct arena *a)
{
	struct session dead;
	struct docker *d = NULL;
	unsigned ended = 0;
	pid_t docker;

	begin_state(a, "stays");
	dead = dead_session(a);
	CHECK(dead_session(a).lock_fd < 0);
	CHECK(reap_dead(a, state, &at, &d, &ended, &err) == -ECONNREFUSED);
	CHECK(!d && ended == 0 && strstr(err.text, "session "));
	docker = start_docker(a, dead.id, 500);
	CHECK(reap_dead(a, state, &at, &d, &ended, &err) == -EREMOTEIO);
	/* of the other, nothing is there */
	CHECK(ended == 1 && strstr(err.text, dead.id) &&
	      strstr(err.text, "it is just starting"));
	/* which is asked for again and again, and the gate's never before */
	CHECK(str_starts(str_of(removed_now(a)), STR(AGENT_ID " " AGENT_ID)));
	CHECK(state_of(dead) == SESSION_DEAD);
	docker_close(d);
	end_docker(docker);
}

/* --- reset and stop ------------------------------------------------------- */

static void set_docker_host(struct arena *a, const char *path)
{
	setenv("DOCKER_HOST", arena_fmt(a, "unix://%s", path).p, 1);
}

static void reset_removes_the_named(struct arena *a)
{
	struct session one, other;
	unsigned ended = 9;
	pid_t docker;

	begin_state(a, "named");
	one = dead_session(a);
	other = dead_session(a);
	docker = start_docker(a, one.id, 204);
	CHECK(launch_reset(state, "", &ended, &err) == -ENOENT);
	CHECK(launch_reset(state, "nobody", &ended, &err) == -ENOENT &&
	      strstr(err.text, "no session 'nobody'"));
	/* eleven digits of a container could be a session's */
	CHECK(launch_reset(state, "aaaaaaaaaaa", &ended, &err) == -ENOENT);
	CHECK(ended == 9 && state_of(one) == SESSION_DEAD);
	CHECK(launch_reset(state, "aaaaaaaaaaaa", &ended, &err) == 0);
	CHECK(ended == 1 && strcmp(removed_now(a), ALL) == 0);
	CHECK(state_of(one) == SESSION_FINISHED);
	/* its record is still one that can be named */
	CHECK(launch_reset(state, arena_fmt(a, "membrane-agent-%s", one.id).p,
			   &ended, &err) == 0 &&
	      ended == 0);
	CHECK(launch_reset(state, other.id, &ended, &err) == 0 && ended == 1);
	CHECK(state_of(other) == SESSION_FINISHED);
	end_docker(docker);
}

static void reset_ends_the_living(struct arena *a)
{
	struct session s;
	unsigned ended = 0;
	int status = 0;
	pid_t launcher, docker;

	begin_state(a, "living");
	s = living_session(a, &launcher);
	docker = start_docker(a, s.id, 204);
	CHECK(launch_reset(state, NULL, &ended, &err) == 0 && ended == 1);
	CHECK(strstr(removed_now(a), ALL));
	CHECK(waitpid(launcher, &status, 0) == launcher &&
	      WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	CHECK(state_of(s) == SESSION_FINISHED);
	CHECK(launch_reset(state, NULL, &ended, &err) == 0 && ended == 0);
	end_docker(docker);
}

static void stop_ends_one(struct arena *a)
{
	const uint32_t grace_s = 7;
	struct session s;
	const char *id = NULL;
	int status = 0;
	pid_t launcher, docker;

	begin_state(a, "stop");
	CHECK(launch_stop(a, state, STR(""), NULL, &id, &err) == -ENOENT);
	s = living_session(a, &launcher);
	docker = start_docker(a, s.id, 204);
	CHECK(launch_stop(a, state, STR(""), &grace_s, &id, &err) == 0);
	CHECK(id && strcmp(id, s.id) == 0 && session_grace(&s, 1) == 7);
	CHECK(waitpid(launcher, &status, 0) == launcher &&
	      WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	/* it did not remove its containers: that was left to us */
	CHECK(strcmp(removed_now(a), ALL) == 0);
	CHECK(launch_stop(a, state, STR(""), NULL, &id, &err) == -ESRCH &&
	      strstr(err.text, "has ended before"));
	end_docker(docker);
}

static void stop_signals_nobody_unknown(struct arena *a)
{
	static const char *const whose[] = {"1\n", "0\n", "nobody\n",
					    "2147483647\n"};
	const char *id = NULL;
	struct session s;

	begin_state(a, "unknown");
	CHECK(session_new(a, state, &s, &err) == 0);
	for (size_t i = 0; i < ARRAY_LEN(whose); i++) {
		ssize_t n = (ssize_t)strlen(whose[i]);

		CHECK(pwrite(s.lock_fd, whose[i], (size_t)n, 0) == n);
		CHECK(launch_stop(a, state, str_of(s.id), NULL, &id, &err) ==
			      -EPERM &&
		      strstr(err.text, "cannot be signalled"));
	}
	CHECK(!id);
	session_release(&s, true);
}

int main(void)
{
	struct arena *a = arena_new();

	CHECK(mkdtemp(dir) != NULL);
	at.socket = arena_fmt(a, "%s/docker", dir).p;
	CHECK(proc_pipe(&heard, &standin_heard, &err) == 0 &&
	      proc_nonblock(heard, &err) == 0);
	set_docker_host(a, at.socket);
	the_dead_are_removed(a);
	a_launcher_may_be_gone(a);
	what_cannot_be_removed_stays_dead(a);
	reset_removes_the_named(a);
	reset_ends_the_living(a);
	stop_ends_one(a);
	stop_signals_nobody_unknown(a);
	CHECK(fileio_remove_tree(AT_FDCWD, dir, &err) == 0);
	arena_free(a);
	return check_status();
}
