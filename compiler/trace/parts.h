/*
 * What the files of this room ask of each other.
 */
#ifndef COMPILER_TRACE_PARTS_H
#define COMPILER_TRACE_PARTS_H

#include "compiler/base/str.h"
#include "compiler/trace/filter_parser.h"

/* --- errnos.c ------------------------------------------------------------ */

/* 2 of "ENOENT"; 0 when that is none. */
int errnos_number(struct str name);

/* --- filter_regex.c ------------------------------------------------------ */

/* Characters that an expression may stand for with its {n} written out. */
#define FILTER_REGEX_MAX 4096u

/* NULL after reporting; else the filter's, until filter_done(). */
regex_t *filter_regex(struct filter_parser *p, const struct filter_value *v);

#endif
