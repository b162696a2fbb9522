/*
 * Regular expressions of a filter: POSIX extended ones, as regcomp(3) has
 * them, without those that would take a machine down.
 */
#ifndef COMPILER_TRACE_FILTER_REGEX_H
#define COMPILER_TRACE_FILTER_REGEX_H

#include "compiler/trace/filter_parser.h"

/* Characters that an expression may stand for with its {n} written out. */
#define FILTER_REGEX_MAX 4096u

/* NULL after reporting; else the filter's, until filter_done(). */
regex_t *filter_regex(struct filter_parser *p, const struct filter_value *v);

#endif
