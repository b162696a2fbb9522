/*
 * Text in mdoc(7): no part of it is a request, a macro or an escape.
 */
#ifndef COMPILER_CLI_FRAME_MAN_TEXT_H
#define COMPILER_CLI_FRAME_MAN_TEXT_H

#include "compiler/base/buf.h"

/* At the beginning of a line, or further on in one; no LF is added. */
void man_text(struct buf *out, const char *s);
/* One argument of a macro, in quotes. */
void man_argument(struct buf *out, const char *s);

#endif
