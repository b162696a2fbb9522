/*
 * The way out of a renewal where the policy names an uplink: a container on
 * that network which passes bytes to one address (runtime/gate/relay.h). TLS is
 * ours, from end to end.
 */
#ifndef RUNTIME_LAUNCH_TOKENS_UPLINK_H
#define RUNTIME_LAUNCH_TOKENS_UPLINK_H

#include "runtime/launch/docker/vectors.h"

#include <sys/types.h>

#define UPLINK_END_MS 10000

struct uplink {
	char *const *argv;
	int listener;  /* -1: none, or no more */
	char name[16]; /* of its socket, an abstract one */
	pid_t pid;     /* of its docker command; 0: none */
};

/* A socket to connect to; *out is there for uplink_done() in any case. */
must_check int uplink_open(struct arena *a, const struct vector *v,
			   const struct vectors_values *values,
			   const char *addr, const char *port,
			   struct uplink *out, struct err *err);
/*
 * When the socket can be read: what connected to it, if it is this process, is
 * from then on connected to the address. What goes wrong in the container is
 * said on our stderr.
 */
must_check int uplink_take(struct uplink *u, struct err *err);
/* Whoever connected has closed that; waits until the container is gone, at most
 * UPLINK_END_MS: its name is free then. */
void uplink_done(struct uplink *u);

#endif
