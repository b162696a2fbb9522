/*
 * A connection to the Docker daemon, over the Engine API.
 *
 * Requests block, for a bounded time; what Docker says about a refusal is in
 * *err word for word. What is asked for stands beside: docker_info.h (the
 * daemon, its images), docker_session.h (containers and networks of sessions),
 * docker_events.h (what runs beside the caller's own descriptors).
 *
 * API: https://docs.docker.com/engine/api/, 1.40 (Docker 19.03) to 1.48.
 */
#ifndef RUNTIME_LAUNCH_DOCKER_DOCKER_H
#define RUNTIME_LAUNCH_DOCKER_DOCKER_H

#include "compiler/base/arena.h"
#include "compiler/base/err.h"
#include "runtime/launch/docker/endpoint.h"

/* Docker 23: before, its seccomp profile opens bpf(2) to SYS_ADMIN alone. */
#define DOCKER_NARROW_MINOR 42u
#define DOCKER_ANSWER_MAX   (16u << 20) /* bytes of one answer */

struct docker;

/*
 * Connect and agree on a version. The arena and e are borrowed until
 * docker_close(), and what later calls return is in that arena.
 *   -ECONNREFUSED  nobody answers, or not as HTTP
 *   -ETIMEDOUT     not in time
 *   -EPROTO        what answers is no Docker daemon
 *   -EINVAL        DOCKER_API_VERSION is none
 */
must_check int docker_open(struct arena *a, const struct endpoint *e,
			   struct docker **out, struct err *err);
void docker_close(struct docker *d); /* NULL is allowed */
/* Of API 1.MINOR, the newest that both the daemon and this program know. */
unsigned docker_minor(const struct docker *d);

#endif
