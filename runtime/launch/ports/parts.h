/*
 * What the two processes of this room share: each waits at a socket of the
 * session's folder for the gate.
 */
#ifndef RUNTIME_LAUNCH_PORTS_PARTS_H
#define RUNTIME_LAUNCH_PORTS_PARTS_H

#include "compiler/base/err.h"

#include <sys/types.h>

/* A socket there that the gate may connect to. */
must_check int ports_listen(const char *dir, const char *name, int *out,
			    struct err *err);
/* In the new process: end with the launcher, and wait for the gate. Its
 * connection, or -1: the launcher is gone. */
int ports_await(int listen, pid_t parent);
/* From outside; 0 there is none, and none is left. */
void ports_end(pid_t *pid);

#endif
