/*
 * seccomp.json: which system calls the agent's container has, in the format of
 * Docker's --security-opt=seccomp=FILE. docker.json's agent names the sealed
 * file, and docker's command hands those bytes to the daemon.
 *
 * What is open, and why, is seccomp.def. The same bytes serve every machine:
 * calls that one lacks are passed over there.
 */
#ifndef COMPILER_EMIT_DOCKER_SECCOMP_H
#define COMPILER_EMIT_DOCKER_SECCOMP_H

#include "compiler/emit/emit.h"

/*
 * Whether the agent's filter is ours: hardening.seccomp says so, and Docker
 * runs it. Not under Sysbox, whose containers are hosts of their own, with
 * namespaces, mounts and a Docker inside: there Docker's default stays.
 */
bool seccomp_wanted(const struct ir_policy *p);
bool seccomp_emit(const struct emit_in *in, struct buf *out);
/* How many calls of the policy's filter are open, some in part. */
unsigned seccomp_calls(const struct ir_policy *p);

#endif
