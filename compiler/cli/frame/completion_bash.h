/* Completions for bash. */
#ifndef COMPILER_CLI_FRAME_COMPLETION_BASH_H
#define COMPILER_CLI_FRAME_COMPLETION_BASH_H

#include "compiler/base/buf.h"

void completion_bash(struct buf *out);

#endif
