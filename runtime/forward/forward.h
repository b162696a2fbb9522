/*
 * Ways between two networks. A socket stays in the network that it was made
 * in, whoever has it: one side listens and hands its sockets over, the other
 * takes the connections there and makes one each to a port of its own
 * loopback, 127.0.0.1 or else ::1. So launcher and gate reach into each
 * other's network at single ports, without an address or a packet filter in
 * between: which ports there are the plan says to both.
 *
 * FORWARD_MAX connections are served at a time; more wait. Where nobody
 * listens the client sees a reset.
 */
#ifndef RUNTIME_FORWARD_FORWARD_H
#define RUNTIME_FORWARD_FORWARD_H

#include "compiler/base/err.h"
#include "compiler/base/limits.h"

#include <stdint.h>

#define FORWARD_MAX	256u /* connections, of all ports */
#define FORWARD_SOCKETS 64u  /* handed over in one message */

_Static_assert(FORWARD_SOCKETS >= LIMIT_MACHINE_PORTS &&
		       FORWARD_SOCKETS >= LIMIT_PUBLISHED,
	       "one message has all of them");

/* The socket of that path: its descriptor, the caller's. */
must_check int forward_connect(const char *path, struct err *err);
/* n: 1 to FORWARD_SOCKETS. The caller keeps its own. */
must_check int forward_hand(int to, const int *fds, uint32_t n,
			    struct err *err);
/*
 * The other side's message: as many listening sockets as there are ports, which
 * do not block from then on. -EPROTO when it is anything else; then none is
 * left open.
 */
must_check int forward_take(int from, int *out_fds, uint32_t n,
			    struct err *err);
/* Take connections there until one of the sockets is broken. */
void forward_serve(const int *listen, const uint16_t *ports, uint32_t n);

#endif
