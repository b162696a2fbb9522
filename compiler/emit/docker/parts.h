/*
 * What the files of this room ask of each other.
 */
#ifndef COMPILER_EMIT_DOCKER_PARTS_H
#define COMPILER_EMIT_DOCKER_PARTS_H

#include "compiler/emit/docker/agent.h"
#include "compiler/emit/docker/argv.h"
#include "compiler/emit/emit.h"

/* --- docker_check.c ------------------------------------------------------ */

/* bridge: the agent has a network of its own; docker.h. */
must_check bool docker_check(const struct emit_in *in, bool bridge);

/* --- docker_ports.c ------------------------------------------------------ */

void docker_ports_put(const struct emit_in *in, cJSON *root);

/* --- docker_tracer.c ----------------------------------------------------- */

/* "tracer" and, for Tracee, "tracer_version"; nothing where nothing traces. */
void docker_tracer_put(struct argv *w, cJSON *root);

/* --- docker_view.c ------------------------------------------------------- */

/* "view"; nothing where masks are made at the start. */
void docker_view_put(struct argv *w, cJSON *root);
/* The word that gives the agent its /workspace: the view, or the folder. */
const char *docker_view_workspace(const struct ir_policy *p);
/* And its /home/agent. */
const char *docker_view_home(const struct ir_policy *p);
/* With `protect`: what closes the memory of the agent's main process, and
 * keeps others' code out of it. */
void docker_view_seal(struct argv *w);

/* --- docker_init.c ------------------------------------------------------- */

/* Variables that say where the command is, and what the host says. */
void docker_init_environment(struct argv *w);

#endif
