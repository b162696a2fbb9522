/*
 * Shell completions, written from the tables of commands and options: a new
 * flag completes without anybody remembering to say so.
 */
#ifndef COMPILER_COMMANDS_COMPLETION_H
#define COMPILER_COMMANDS_COMPLETION_H

#include "compiler/base/buf.h"

/* False when shell is none of bash, zsh, fish. */
must_check bool completion_write(struct buf *out, struct str shell);

#endif
