/*
 * `help events`, `help EVENT` and `help filter`: what a policy can have
 * recorded, and how a trace is asked about it. At most 24 lines of 80 columns
 * each.
 */
#ifndef COMPILER_CLI_FRAME_HELP_TRACE_H
#define COMPILER_CLI_FRAME_HELP_TRACE_H

#include "compiler/base/buf.h"

/* The expressions that `trace` takes, in lines. */
const char *help_filter(void);
/* False, and nothing written, for any other word. */
bool help_trace(struct buf *out, struct str word);

#endif
