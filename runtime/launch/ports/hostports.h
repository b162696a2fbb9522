/*
 * Ports of this machine for a session: 'host:11434' of its policy.
 *
 * The gate opens each port, in its own network, and hands the sockets over
 * through one of the session's folder; a process of the launcher's takes the
 * connections there and makes one each to the same port of this machine's
 * loopback, 127.0.0.1 or else ::1. So whatever serves there needs to listen for
 * nobody else, and no other port of this machine is behind it: which ports
 * there are the plan says to both.
 *
 * The process has no descriptor of the launcher's but the socket, ends with it
 * and serves HOSTPORTS_MAX connections at a time; more wait. Where nobody
 * listens the client sees a reset.
 */
#ifndef RUNTIME_LAUNCH_PORTS_HOSTPORTS_H
#define RUNTIME_LAUNCH_PORTS_HOSTPORTS_H

#include "compiler/base/err.h"

#include <stdint.h>
#include <sys/types.h>

#define HOSTPORTS_MAX 256u /* connections, of all ports */

struct hostports {
	pid_t pid; /* 0: none */
};

/* Listen for the gate in dir; n ports, 0 for none, LIMIT_MACHINE_PORTS at
 * most. */
must_check int hostports_start(const char *dir, const uint16_t *ports,
			       uint32_t n, struct hostports *out,
			       struct err *err);
/* Nobody is served any more. */
void hostports_stop(struct hostports *h);

/*
 * The gate's message: as many listening sockets as there are ports, which do
 * not block from then on. -EPROTO when it is anything else; then none is left
 * open.
 */
must_check int hostports_take(int from, int *out_fds, uint32_t n,
			      struct err *err);
/* Take connections there until one of the sockets is broken. */
void hostports_serve(const int *listen, const uint16_t *ports, uint32_t n);

#endif
