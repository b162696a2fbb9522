/* Completions for zsh. */
#ifndef COMPILER_CLI_FRAME_COMPLETION_ZSH_H
#define COMPILER_CLI_FRAME_COMPLETION_ZSH_H

#include "compiler/base/buf.h"

void completion_zsh(struct buf *out);

#endif
