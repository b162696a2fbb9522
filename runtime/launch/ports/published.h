/*
 * Ports of this machine that lead into a session: `ports` of its policy. They
 * are opened here, before anything of the session starts, and handed over to
 * the gate, which answers at them inside the agent's network
 * (runtime/forward/forward.h): a program there needs to listen on its loopback
 * alone, and no packet goes in.
 */
#ifndef RUNTIME_LAUNCH_PORTS_PUBLISHED_H
#define RUNTIME_LAUNCH_PORTS_PUBLISHED_H

#include "compiler/base/err.h"
#include "runtime/launch/docker/vectors.h"

#include <sys/types.h>

struct published {
	pid_t pid; /* waits for the gate; 0: none */
};

/*
 * Open n of them, 0 for none, LIMIT_PUBLISHED at most, and wait for the gate in
 * dir. The error says which could not be opened, and what to do.
 */
must_check int published_start(const char *dir,
			       const struct vectors_published *at, uint32_t n,
			       struct published *out, struct err *err);
/* Whether the gate has come or not; what it has it keeps. */
void published_stop(struct published *p);

#endif
