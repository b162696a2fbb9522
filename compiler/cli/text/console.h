/*
 * What commands print: results to stdout, whole; the rest to stderr.
 */
#ifndef COMPILER_CLI_TEXT_CONSOLE_H
#define COMPILER_CLI_TEXT_CONSOLE_H

#include "compiler/base/diag.h"

/* "membrane: …" and a newline on stderr. */
void console_error(const char *fmt, ...) printf_like(1, 2);
/* The result; STATUS_OK, or STATUS_IO after saying why. */
must_check int console_result(struct str text);
/* Errors and warnings on stderr, in colour on a terminal. */
void console_diags(struct arena *a, const struct diags *d);
/* Whether fd is a terminal that wants colour (NO_COLOR is not set). */
bool console_colour(int fd);
/* Columns of the terminal at fd between 40 and 120; 80 when it is none. */
unsigned console_width(int fd);
/* Whether fd is our terminal and other processes have its foreground: who reads
 * from it there, or sets its mode, is stopped. */
bool console_is_behind(int fd);

#endif
