/* Completions for zsh. */
#ifndef COMPILER_COMMANDS_COMPLETION_ZSH_H
#define COMPILER_COMMANDS_COMPLETION_ZSH_H

#include "compiler/base/buf.h"

void completion_zsh(struct buf *out);

#endif
