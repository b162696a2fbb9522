#include "runtime/launch/watchdog.h"

#include "compiler/base/sys/fdpass.h"
#include "compiler/base/sys/proc.h"
#include "runtime/launch/mounts/freeze.h"
#include "runtime/launch/reap.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define ROUNDS	       60 /* of cleaning, while docker commands still run */
#define ROUND_MS       500
#define PATIENT_ROUNDS 6 /* before they are killed */
#define TAKE_TRIES     1000
#define TAKE_STEP_MS   10
#define REMOVED_MS     20000 /* for Docker, which was asked to */
#define COMMANDS_MAX   8u    /* at a time: parts of a session, or kubectl */

enum what {
	WORD_COMMAND, /* one was started */
	WORD_DONE,
	WORD_LEFT, /* the session's lock comes with it */
};

/* What the launcher says. */
struct word {
	enum what what;
	pid_t pid, group, session; /* of a command, to know it again */
};

struct commands {
	struct word of[COMMANDS_MAX];
	size_t n;
	int fd; /* closed when they have all ended */
};

/* One word, and the descriptor that comes with it, or -1. */
static bool hear_word(int alive, struct word *out, int *out_fd)
{
	ssize_t got =
		fdpass_take(alive, out, sizeof(*out), out_fd, MSG_WAITALL);

	return got == sizeof(*out);
}

/* Not our children: make sure that a number still is the same process. */
static bool is_there(const struct word *w)
{
	return getpgid(w->pid) == w->group && getsid(w->pid) == w->session;
}

/* A watch that ends is begun anew, as often as it takes. */
static void note_command(struct commands *c, const struct word *w)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		if (is_there(&c->of[i]))
			c->of[n++] = c->of[i];
	if (n < COMMANDS_MAX)
		c->of[n++] = *w;
	c->n = n;
}

/* True when there is something to be done, with the lock or without. */
static bool launcher_ended(int alive, struct commands *c, struct session *s)
{
	struct word w;

	while (hear_word(alive, &w, &s->lock_fd)) {
		switch (w.what) {
		case WORD_COMMAND:
			note_command(c, &w);
			break;
		case WORD_DONE:
			return false;
		case WORD_LEFT:
			return true;
		}
	}
	return true;
}

static void kill_commands(const struct commands *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (is_there(&c->of[i]))
			kill(c->of[i].pid, SIGKILL);
}

/* False when another launcher reaps it already. */
static bool take_lock(struct session *s)
{
	int rc = SESSION_ALIVE;
	struct err err;

	/* a killed process closes its pipes before it lets go of locks */
	for (int i = 0; i < TAKE_TRIES && rc == SESSION_ALIVE; i++) {
		rc = session_take(s, &err);
		if (rc == SESSION_ALIVE)
			poll(NULL, 0, TAKE_STEP_MS);
	}
	return rc == SESSION_DEAD;
}

/* Docker was asked to remove the rest, and its commands wait until it has. */
static void let_docker(struct session *s, const struct commands *c)
{
	struct pollfd p = {.fd = c->fd};

	session_inherit(s);
	while (poll(&p, 1, REMOVED_MS) < 0 && errno == EINTR)
		;
}

/*
 * A docker command in flight may still make a container; so clean until the
 * last of them has closed its end of the pipe, and once more.
 */
static void clean_session(const char *state, struct session *s,
			  const struct endpoint *at, const struct commands *c)
{
	struct arena *a = arena_new();
	struct pollfd p = {.fd = c->fd};
	struct docker *docker = NULL;
	bool last = false;
	struct err err;
	int rc = 0;

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
	/* whom it had stopped: once nothing of its own can start any more */
	if (docker && freeze_thaw(a, docker, state, s, &err) < 0)
		rc = err.code;
	session_release(s, rc == 0);
	docker_close(docker);
	arena_free(a);
}

/* Its parts die with the launcher, and those close their end. */
static void clean_native(const char *state, struct session *s,
			 const struct commands *c)
{
	struct pollfd p = {.fd = c->fd};
	struct err err;

	if (poll(&p, 1, REMOVED_MS) <= 0)
		kill_commands(c);
	session_release(s, reap_alone(state, s, &err) == 0);
}

/* kubectl's runs go on for nobody: once what they tell of is gone. */
static void clean_pod(const char *state, struct session *s,
		      const struct commands *c)
{
	struct err err;
	int rc = reap_alone(state, s, &err);

	kill_commands(c);
	session_release(s, rc == 0);
}

static void watch_launcher(int alive, const char *state, struct session *s,
			   const struct endpoint *at, struct commands *c)
{
	if (!launcher_ended(alive, c, s))
		return;
	if (s->lock_fd >= 0)
		let_docker(s, c);
	else if (!take_lock(s))
		return;
	if (session_is_pod(s))
		clean_pod(state, s, c);
	else if (session_is_native(s))
		clean_native(state, s, c);
	else
		clean_session(state, s, at, c);
}

int watchdog_start(const char *state, const struct session *s,
		   const struct endpoint *at, struct watchdog *out,
		   struct err *err)
{
	struct commands told = {0};
	struct session own = *s;
	int alive[2], commands[2], rc;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, alive) < 0)
		return err_errno(err, "socketpair");
	fcntl(alive[0], F_SETFD, FD_CLOEXEC);
	fcntl(alive[1], F_SETFD, FD_CLOEXEC);
	rc = proc_pipe(&commands[0], &commands[1], err);
	if (rc < 0) {
		fd_close(&alive[0]);
		fd_close(&alive[1]);
		return rc;
	}
	pid = fork();
	if (pid == 0) {
		proc_leave_terminal();
		proc_close_others(alive[0], commands[0]);
		told.fd = commands[0];
		watch_launcher(alive[0], state, &own, at, &told);
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
	struct word word = {WORD_COMMAND, command, getpgid(command),
			    getsid(command)};

	/* without it a command that hangs is only not killed */
	if (write(w->alive_fd, &word, sizeof(word)) != sizeof(word))
		return;
}

int watchdog_leave(struct watchdog *w, struct session *s, struct err *err)
{
	struct word word = {.what = WORD_LEFT};

	if (!fdpass_send(w->alive_fd, &word, sizeof(word), s->lock_fd, 0))
		return err_set(err, -EPIPE, "the watchdog is gone");
	session_release(s, false);
	fd_close(&w->keep_fd);
	fd_close(&w->alive_fd);
	return 0;
}

void watchdog_stop(struct watchdog *w)
{
	struct word done = {.what = WORD_DONE};

	fd_close(&w->keep_fd);
	if (write(w->alive_fd, &done, sizeof(done)) != sizeof(done))
		kill(w->pid, SIGKILL); /* gone, then: nothing to tell it */
	fd_close(&w->alive_fd);
	while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
		;
}
