/*
 * What is left of a session when its launcher is gone, or does not wait: with
 * a Docker of canned answers, whose requests are heard.
 */
#include "runtime/launch/watchdog.h"

#include "compiler/base/sys/fileio.h"
#include "compiler/base/sys/proc.h"
#include "tests/check.h"
#include "tests/unit/docker_standin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#define HEARD_MAX 8192u

static struct err err;
static struct arena *a;
static const char *top;

struct run {
	struct session session, was; /* was: as it is found again */
	struct endpoint at;
	pid_t server;
	int heard; /* a line per request, each with a CR at its end */
	struct watchdog dog;
};

static const char *container(const char *id, const char *role,
			     const struct session *s)
{
	return arena_fmt(a,
			 "{\"Id\":\"%s\",\"Names\":[\"/membrane-%s-%s\"],"
			 "\"Labels\":{\"membrane.session\":\"%s\"}}",
			 id, role, s->id, s->id)
		.p;
}

/* A gate, an agent and a network; and another's agent that was stopped. */
static void start_docker(struct run *r, int heard)
{
	const struct session *s = &r->session;
	const struct standin_answer table[] = {
		{"GET /_ping", 200, "OK"},
		{"GET /v1.48/containers/json?", 200,
		 arena_fmt(a, "[%s,%s]", container("gate", "gate", s),
			   container("agent", "agent", s))
			 .p},
		{"DELETE /v1.48/containers/", 204, ""},
		{"GET /v1.48/networks?", 200,
		 arena_fmt(a,
			   "[{\"Id\":\"net\",\"Labels\":{\"membrane.session\":"
			   "\"%s\"}}]",
			   s->id)
			 .p},
		{"DELETE /v1.48/networks/net", 204, ""},
		{"POST /v1.48/containers/other/unpause", 204, ""},
	};

	r->at.base = "http://localhost";
	r->at.socket = arena_fmt(a, "%s/sock", top).p;
	standin_heard = heard;
	r->server = standin_start(r->at.socket, table, ARRAY_LEN(table));
}

static struct run *start_run(void)
{
	struct run *r = arena_new_of(a, struct run);
	int heard = -1;

	CHECK(session_new(a, top, &r->session, &err) == 0);
	r->was = r->session;
	CHECK(fileio_write(AT_FDCWD,
			   arena_fmt(a, "%s/frozen", r->session.dir).p,
			   STR("other\n"), 0600, &err) == 0);
	CHECK(proc_pipe(&r->heard, &heard, &err) == 0);
	start_docker(r, heard);
	CHECK(watchdog_start(top, &r->session, &r->at, &r->dog, &err) == 0);
	fd_close(&heard);
	return r;
}

/* All that Docker was asked for; it is gone afterwards. */
static const char *requests(struct run *r)
{
	char *text = arena_array(a, HEARD_MAX, 1);
	size_t n = 0;
	ssize_t got;

	kill(r->server, SIGKILL);
	waitpid(r->server, NULL, 0);
	CHECK(unlink(r->at.socket) == 0);
	CHECK(proc_nonblock(r->heard, &err) == 0);
	while (n + 1 < HEARD_MAX &&
	       (got = read(r->heard, text + n, HEARD_MAX - 1 - n)) > 0)
		n += (size_t)got;
	fd_close(&r->heard);
	return text;
}

/* What it had stopped no other one wants any more. */
static void end_run(struct run *r, struct session *held)
{
	session_release(held, true);
	CHECK(fileio_remove_tree(AT_FDCWD, r->was.dir, &err) == 0);
}

static void wait_dog(const struct run *r)
{
	int status = -1;

	while (waitpid(r->dog.pid, &status, 0) < 0 && errno == EINTR)
		;
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Everything is gone, the agent before its gate. */
static void check_cleaned(struct run *r)
{
	const char *asked = requests(r);
	const char *agent = strstr(asked, "DELETE /v1.48/containers/agent?");
	const char *gate = strstr(asked, "DELETE /v1.48/containers/gate?");

	CHECK_MSG(agent && gate && agent < gate, "%s", asked);
	CHECK(strstr(asked, "DELETE /v1.48/networks/net"));
	CHECK(strstr(asked, "POST /v1.48/containers/other/unpause"));
	CHECK(session_take(&r->was, &err) == SESSION_FINISHED);
}

/* What a launcher has when it is killed goes with it. */
static void die(struct run *r)
{
	session_release(&r->session, false);
	fd_close(&r->dog.keep_fd);
	fd_close(&r->dog.alive_fd);
}

/* Nothing is left: nobody is asked, and the lock stays the launcher's. */
static void check_done(void)
{
	struct run *r = start_run();

	watchdog_stop(&r->dog);
	CHECK(*requests(r) == '\0');
	session_release(&r->session, false);
	CHECK(session_take(&r->was, &err) == SESSION_DEAD);
	end_run(r, &r->was);
}

static void check_killed(void)
{
	struct run *r = start_run();

	die(r);
	wait_dog(r);
	check_cleaned(r);
}

static void check_leaving(void)
{
	struct run *r = start_run();

	CHECK(watchdog_leave(&r->dog, &r->session, &err) == 0);
	CHECK(r->session.lock_fd < 0);
	wait_dog(r);
	check_cleaned(r);
}

/* Until it is killed. */
static pid_t start_waiting(struct run *r)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	session_release(&r->session, false);
	fd_close(&r->dog.alive_fd);
	for (;;)
		pause(); /* with keep_fd */
}

/* More than there are at a time. */
static void tell_of_ended(struct run *r)
{
	for (int i = 0; i < 20; i++) {
		pid_t command = start_waiting(r);

		watchdog_tell(&r->dog, command);
		kill(command, SIGKILL);
		CHECK(waitpid(command, NULL, 0) == command);
	}
}

/* A command that hangs is killed, once its containers are gone for a while. */
static void check_hanging(void)
{
	struct run *r = start_run();
	int status = 0;
	pid_t command;

	tell_of_ended(r);
	command = start_waiting(r);
	watchdog_tell(&r->dog, command);
	die(r);
	wait_dog(r);
	CHECK(waitpid(command, &status, 0) == command && WIFSIGNALED(status) &&
	      WTERMSIG(status) == SIGKILL);
	check_cleaned(r);
}

/* Without it nobody hands anything over. */
static void check_gone(void)
{
	struct run *r = start_run();
	siginfo_t info;

	kill(r->dog.pid, SIGKILL);
	CHECK(waitid(P_PID, (id_t)r->dog.pid, &info, WEXITED | WNOWAIT) == 0);
	CHECK(watchdog_leave(&r->dog, &r->session, &err) == -EPIPE &&
	      r->session.lock_fd >= 0);
	watchdog_stop(&r->dog);
	CHECK(*requests(r) == '\0');
	end_run(r, &r->session);
}

int main(void)
{
	char dir[] = "/tmp/membrane-watchdog-XXXXXX";

	signal(SIGPIPE, SIG_IGN);
	unsetenv("DOCKER_API_VERSION");
	a = arena_new();
	CHECK(mkdtemp(dir) != NULL);
	top = dir;
	check_done();
	check_killed();
	check_leaving();
	check_hanging();
	check_gone();
	CHECK(fileio_remove_tree(AT_FDCWD, dir, &err) == 0);
	arena_free(a);
	return check_status();
}
