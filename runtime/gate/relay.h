/*
 * A connection for somebody outside: bytes between two descriptors and one
 * address, of a network that the caller has no other way to.
 *
 * For renewals of tokens where the policy names an uplink: the launcher speaks
 * TLS through this, in a container of its own on that network. It understands
 * nothing of what passes, and ends when either side does.
 */
#ifndef RUNTIME_GATE_RELAY_H
#define RUNTIME_GATE_RELAY_H

#include "compiler/base/err.h"

#define RELAY_BUF     16384u
#define RELAY_LIFE_MS 60000

/* Connect; never waits for it: relay_run() does. */
must_check int relay_dial(struct str addr, struct str port, int *out,
			  struct err *err);
/*
 * From in to the socket, and from the socket to out, until in or the socket has
 * ended. All three are its own: they no longer block.
 *   -ETIMEDOUT  after life_ms
 *   other       what connecting, or a descriptor, says
 */
must_check int relay_run(int in, int out, int sock, int life_ms,
			 struct err *err);
/* Both, for the process's own stdin and stdout. */
must_check int relay_stdio(const char *addr, const char *port, struct err *err);

#endif
