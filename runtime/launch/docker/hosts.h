/*
 * The host's own addresses: what no policy can open.
 */
#ifndef RUNTIME_LAUNCH_DOCKER_HOSTS_H
#define RUNTIME_LAUNCH_DOCKER_HOSTS_H

#include "compiler/base/addr.h"
#include "compiler/base/arena.h"
#include "compiler/base/err.h"
#include "runtime/launch/docker/docker.h"
#include "runtime/launch/docker/proxy.h"
#include "runtime/launch/docker/secrets.h"

#define HOSTS_MAX 128u /* what the gate takes */

typedef VEC(struct addr) hosts;

/*
 * Addresses of all interfaces of this machine and the gateways of all Docker
 * networks (those are the daemon's machine's, which may be another one); d may
 * be NULL: without those.
 * Sorted, each once; without loopback and link-local ones, which the floor
 * has anyway.
 *   -E2BIG  more than HOSTS_MAX: leaving one out would open it
 */
must_check int hosts_find(struct arena *a, struct docker *d, hosts *out,
			  struct err *err);
/* The first line for the gate, with its LF. */
struct str hosts_hello(struct arena *a, const char *session, const hosts *h,
		       const secrets *s, const struct proxy *p);
/* The same for a gate that is tried, and has no agent: it is ready once HAProxy
 * serves. */
struct str hosts_hello_trial(struct arena *a, const char *session,
			     const hosts *h);

#endif
