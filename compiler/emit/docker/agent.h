/*
 * What the vectors of every engine have in them: the agent's rights, mounts and
 * variables, the way of ports, and what the launcher is told beside them.
 */
#ifndef COMPILER_EMIT_DOCKER_AGENT_H
#define COMPILER_EMIT_DOCKER_AGENT_H

#include "compiler/emit/docker/argv.h"

/* Whose it is, what it may, how much of the machine it gets. */
void agent_hardening(struct argv *w);
/* Its mounts and variables. */
void agent_mounts(struct argv *w);
/* Its last words, from behind the raw arguments: the init, the image, the
 * command. */
void docker_init_put(struct argv *w);
/* Natively: a root of the policy's own, which `read_only` does not close. */
bool agent_writes_root(const struct ir_policy *p);
/* Is it the image that is built here, with what we know to be in it? */
bool agent_has_own_image(const struct ir_policy *p);
/* A variable by which programs find roots: /etc/membrane/FILE.pem, "bundle" or
 * "ca". NULL behind the last. */
struct agent_ca {
	const char *name, *file;
};
const struct agent_ca *agent_ca_at(size_t i);
/* Is each folder in memory at a place for one? */
must_check bool docker_tmpfs_check(const struct emit_in *in);
/* What would undo `protect`, at its place. */
must_check bool docker_protect_check(const struct emit_in *in);
/* The gate's way to the launcher; nothing where no ports are asked for. */
void docker_ports_mount(struct argv *w);
must_check bool docker_ports_check(const struct emit_in *in);
/* Roots that the gate is to believe in besides its own; nothing where there are
 * none. */
void docker_roots_mount(struct argv *w);
/* Members of the artefact: what the launcher does for a session. */
void agent_session(const struct emit_in *in, cJSON *root);

#endif
