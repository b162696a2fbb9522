/* Completions for fish. */
#ifndef COMPILER_CLI_FRAME_COMPLETION_FISH_H
#define COMPILER_CLI_FRAME_COMPLETION_FISH_H

#include "compiler/base/buf.h"

void completion_fish(struct buf *out);

#endif
