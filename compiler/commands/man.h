/*
 * membrane(1): membrane.mdoc with the tables of commands and options in the
 * places that it marks, in mdoc(7).
 */
#ifndef COMPILER_COMMANDS_MAN_H
#define COMPILER_COMMANDS_MAN_H

#include "compiler/base/buf.h"

void man_write(struct buf *out);

#endif
