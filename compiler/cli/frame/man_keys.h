/*
 * The keys of a policy for membrane-policy(5), after grammar/schema.def.
 */
#ifndef COMPILER_CLI_FRAME_MAN_KEYS_H
#define COMPILER_CLI_FRAME_MAN_KEYS_H

#include "compiler/base/buf.h"

/* A subsection in mdoc(7) for each mapping, in their order. */
void man_keys(struct buf *out);
/*
 * Those of the top level, to fit a terminal; of two that mean the same, which
 * stand side by side, the first.
 */
void man_keys_overview(struct buf *out);

#endif
