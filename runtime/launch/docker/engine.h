/*
 * Docker as what runs a session's parts: engine.h.
 */
#ifndef RUNTIME_LAUNCH_DOCKER_ENGINE_H
#define RUNTIME_LAUNCH_DOCKER_ENGINE_H

#include "runtime/launch/docker/docker.h"
#include "runtime/launch/engine/engine.h"

struct docker_engine {
	struct engine engine;
	struct docker *docker; /* borrowed; NULL: only start() works */
	const char *session;   /* its ID */
	const char *names[ENGINE_PARTS]; /* of its containers */
};

/* names: by the session's ID, in the arena. */
void docker_engine_init(struct docker_engine *e, struct arena *a,
			struct docker *d, const char *session);

#endif
