/*
 * docker.json: the argument vectors of gate, agent and tracer, as the launcher
 * runs them. compiler/plan/docker_json.h has the format.
 *
 * link veth: the agent joins the network namespace that the gate's first
 * process is in, so everything that is about the network goes to the gate's
 * vector. link bridge, for runtimes that bring their own namespace: the
 * launcher makes the network membrane-{session}, the gate joins it.
 *
 * The first process is an init of ours, which begins what the image would have
 * begun: docker_init.c. args: [--init=false] leaves it out.
 */
#ifndef COMPILER_EMIT_DOCKER_DOCKER_H
#define COMPILER_EMIT_DOCKER_DOCKER_H

#include "compiler/emit/emit.h"

bool docker_wanted(const struct ir_policy *p);
bool docker_emit(const struct emit_in *in, struct buf *out);

#endif
