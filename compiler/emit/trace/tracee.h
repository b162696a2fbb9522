/*
 * tracee.yaml: a policy for Tracee 0.20 to 0.24, one rule per event.
 *
 * Scope container=new: containers that start after Tracee is ready; which of
 * them is the agent's, the launcher tells. Paths to leave out become a != on
 * the path of each event that has one; not on those that start programs, and
 * not on the few whose path lacks the mount it is under. Written with libyaml's
 * emitter, so that no string of the policy can be more than a string.
 */
#ifndef COMPILER_EMIT_TRACE_TRACEE_H
#define COMPILER_EMIT_TRACE_TRACEE_H

#include "compiler/emit/emit.h"

bool tracee_wanted(const struct ir_policy *p);
bool tracee_emit(const struct emit_in *in, struct buf *out);

#endif
