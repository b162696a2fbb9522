/*
 * Ports of this machine for a session: 'host:11434' of its policy.
 *
 * The gate opens each port, in its own network, and hands the sockets over
 * through one of the session's folder; a process of the launcher's answers at
 * them (runtime/forward/forward.h) with the same port of this machine's
 * loopback. So whatever serves there needs to listen for nobody else, and no
 * other port of this machine is behind it.
 *
 * The process has no descriptor of the launcher's but the socket, and ends with
 * it.
 */
#ifndef RUNTIME_LAUNCH_PORTS_HOSTPORTS_H
#define RUNTIME_LAUNCH_PORTS_HOSTPORTS_H

#include "compiler/base/err.h"

#include <stdint.h>
#include <sys/types.h>

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

#endif
