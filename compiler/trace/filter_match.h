/*
 * Does a record fit an expression? compiler/trace/filter.h.
 */
#ifndef COMPILER_TRACE_FILTER_MATCH_H
#define COMPILER_TRACE_FILTER_MATCH_H

#include "compiler/trace/event.h"
#include "compiler/trace/filter.h"

bool filter_matches(const struct filter *f, const struct trace_event *e);

#endif
