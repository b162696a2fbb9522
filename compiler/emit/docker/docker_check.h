/*
 * What docker.json cannot say, because Docker would refuse it or read it
 * otherwise: an error at its place.
 */
#ifndef COMPILER_EMIT_DOCKER_DOCKER_CHECK_H
#define COMPILER_EMIT_DOCKER_DOCKER_CHECK_H

#include "compiler/emit/emit.h"

/* bridge: the agent has a network of its own; docker.h. */
must_check bool docker_check(const struct emit_in *in, bool bridge);

#endif
