/*
 * The process that cleans up after a launcher: one that was killed, or one that
 * does not wait for Docker to remove the gate.
 *
 * Forked before anything is started, in a session of its own, with nothing
 * open but a socket and a pipe. When the launcher is gone without having said
 * that it was done, it takes the session's lock and removes what is left. One
 * that leaves hands it the lock: then Docker gets some seconds to do that. It
 * ends at the latest when the docker commands that the launcher started have.
 */
#ifndef RUNTIME_LAUNCH_WATCHDOG_H
#define RUNTIME_LAUNCH_WATCHDOG_H

#include "runtime/launch/docker/endpoint.h"
#include "runtime/launch/session/session.h"

struct watchdog {
	pid_t pid;
	int alive_fd; /* its closing is the launcher's end */
	int keep_fd;  /* for the docker commands to inherit */
};

must_check int watchdog_start(const char *state, const struct session *s,
			      const struct endpoint *at, struct watchdog *out,
			      struct err *err);
/*
 * Should the launcher die: when their containers are gone and one of these
 * docker commands still is there after a while, it is killed.
 */
void watchdog_tell(const struct watchdog *w, pid_t command);

/* Nothing is left: it may go. Waits for it. */
void watchdog_stop(struct watchdog *w);
/*
 * Nothing is left but what Docker is removing. The session's lock is the
 * watchdog's afterwards, which lets go of it when all of that is gone; the
 * caller need not wait, and can end.
 *
 *   -EPIPE  it is not there: the session is as it was
 */
must_check int watchdog_leave(struct watchdog *w, struct session *s,
			      struct err *err);

#endif
