/* Completions for bash. */
#ifndef COMPILER_COMMANDS_COMPLETION_BASH_H
#define COMPILER_COMMANDS_COMPLETION_BASH_H

#include "compiler/base/buf.h"

void completion_bash(struct buf *out);

#endif
