/*
 * The tracer's part of docker.json: the built-in one, or Tracee with the vector
 * that asks it for its version.
 */
#ifndef COMPILER_EMIT_DOCKER_DOCKER_TRACER_H
#define COMPILER_EMIT_DOCKER_DOCKER_TRACER_H

#include "compiler/emit/docker/argv.h"

/* "tracer" and, for Tracee, "tracer_version"; nothing where nothing traces. */
void docker_tracer_put(struct argv *w, cJSON *root);

#endif
