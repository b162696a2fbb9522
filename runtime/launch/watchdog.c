#include "runtime/launch/watchdog.h"

#include "runtime/launch/proc.h"
#include "runtime/launch/reap.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define ROUNDS 60      /* of cleaning, while docker commands still run */
#define ROUND_MS 500
#define PATIENT_ROUNDS 6 /* before they are killed */
#define TAKE_TRIES 1000
#define TAKE_STEP_MS 10
#define COMMANDS_MAX 2u  /* the gate's and the agent's */

/* What goes through the launcher's pipe: a command, or 0 for "done". */
struct word {
	pid_t pid, group, session; /* to know it again */
};

struct commands {
	struct word of[COMMANDS_MAX];
	size_t n;
	int fd; /* closed when they have all ended */
};

static void leave_terminal(void)
{
	/* who ends all of membrane politely means its launcher */
	static const int ignored[] = {SIGINT, SIGHUP, SIGQUIT, SIGTERM};
	static const int reset[] = {SIGCHLD, SIGPIPE};
	int null = open("/dev/null", O_RDWR);

	setsid();
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	for (size_t i = 0; i < ARRAY_LEN(reset); i++)
		signal(reset[i], SIG_DFL);
	for (size_t i = 0; i < ARRAY_LEN(ignored); i++)
		signal(ignored[i], SIG_IGN);
	if (chdir("/") < 0)
		return; /* then it pins a directory, no more */
}

/* True when the launcher went without a word. */
static bool launcher_died(int alive, struct commands *c)
{
	struct word w;
	ssize_t got;

	while (true) {
		got = read(alive, &w, sizeof(w));
		if (got < 0 && errno == EINTR)
			continue;
		if (got != sizeof(w))
			return true;
		if (w.pid == 0)
			return false;
		if (c->n < COMMANDS_MAX)
			c->of[c->n++] = w;
	}
}

/* Not our children: make sure that a number still is the same process. */
static void kill_commands(const struct commands *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (getpgid(c->of[i].pid) == c->of[i].group &&
		    getsid(c->of[i].pid) == c->of[i].session)
			kill(c->of[i].pid, SIGKILL);
}

/*
 * A docker command in flight may still make a container; so clean until the
 * last of them has closed its end of the pipe, and once more.
 */
static void clean(const char *state, struct session *s,
		  const struct endpoint *at, const struct commands *c)
{
	struct arena *a = arena_new();
	struct pollfd p = {.fd = c->fd};
	struct docker *docker = NULL;
	bool last = false;
	int rc = SESSION_ALIVE;
	struct err err;

	/* a killed process closes its pipes before it lets go of locks */
	for (int i = 0; i < TAKE_TRIES && rc == SESSION_ALIVE; i++) {
		rc = session_take(s, &err);
		if (rc == SESSION_ALIVE)
			poll(NULL, 0, TAKE_STEP_MS);
	}
	if (rc != SESSION_DEAD)
		return; /* another launcher reaps it already */
	for (int i = 0; i < ROUNDS && !(last && rc == 0); i++) {
		last = poll(&p, 1, 0) > 0;
		if (!docker)
			rc = docker_open(a, at, &docker, &err);
		if (docker)
			rc = reap_session(docker, state, s, &err);
		if (i >= PATIENT_ROUNDS && rc == 0)
			kill_commands(c);
		if (!last || rc < 0)
			poll(&p, last ? 0 : 1, ROUND_MS);
	}
	session_release(s, rc == 0);
	docker_close(docker);
	arena_free(a);
}

int watchdog_start(const char *state, const struct session *s,
		   const struct endpoint *at, struct watchdog *out,
		   struct err *err)
{
	struct commands told = {0};
	struct session own = *s;
	int alive[2], commands[2];
	int rc = proc_pipe(&alive[0], &alive[1], err);
	pid_t pid;

	if (rc < 0)
		return rc;
	rc = proc_pipe(&commands[0], &commands[1], err);
	if (rc < 0) {
		fd_close(&alive[0]);
		fd_close(&alive[1]);
		return rc;
	}
	pid = fork();
	if (pid == 0) {
		leave_terminal();
		proc_close_others(alive[0], commands[0]);
		own.lock_fd = -1;
		told.fd = commands[0];
		if (launcher_died(alive[0], &told))
			clean(state, &own, at, &told);
		_exit(0);
	}
	if (pid < 0)
		rc = err_set(err, -errno, "fork: %s", strerror(errno));
	fd_close(&alive[0]);
	fd_close(&commands[0]);
	*out = (struct watchdog){pid, alive[1], commands[1]};
	if (rc < 0) {
		fd_close(&alive[1]);
		fd_close(&commands[1]);
	}
	return rc;
}

void watchdog_tell(const struct watchdog *w, pid_t command)
{
	struct word word = {command, getpgid(command), getsid(command)};

	/* without it a command that hangs is only not killed */
	if (write(w->alive_fd, &word, sizeof(word)) != sizeof(word))
		return;
}

void watchdog_stop(struct watchdog *w)
{
	struct word done = {0};

	fd_close(&w->keep_fd);
	if (write(w->alive_fd, &done, sizeof(done)) != sizeof(done))
		kill(w->pid, SIGKILL); /* gone, then: nothing to tell it */
	fd_close(&w->alive_fd);
	while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
		;
}
