/*
 * mounts.plan: what the agent does not see, may not change and may not create;
 * compiler/plan/mounts_plan.h has the format.
 */
#ifndef COMPILER_EMIT_MOUNTS_H
#define COMPILER_EMIT_MOUNTS_H

#include "compiler/emit/emit.h"

bool mounts_emit(const struct emit_in *in, struct buf *out);

#endif
