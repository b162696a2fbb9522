/*
 * mounts.plan: what the agent does not see, may not change and may not create;
 * runtime/launch/workspace/mountsplan.h has the format and its reader.
 */
#ifndef COMPILER_EMIT_MOUNTS_H
#define COMPILER_EMIT_MOUNTS_H

#include "compiler/emit/emit.h"

bool mounts_emit(const struct emit_in *in, struct buf *out);

#endif
