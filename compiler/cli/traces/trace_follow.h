/*
 * A trace while it is made: each record as soon as it is in the file, over all
 * files that it becomes, until its last record or the session's end.
 */
#ifndef COMPILER_CLI_TRACES_TRACE_FOLLOW_H
#define COMPILER_CLI_TRACES_TRACE_FOLLOW_H

#include "compiler/cli/traces/traces.h"

/* Called with each record, and with NULL when there is none for a while. */
typedef void trace_follow_visit(void *ctx, const struct trace_event *e);

/*
 * what: as for traces_find(); of a session that begins just now the first
 * record is waited for. 0 at the end, or when nobody reads stdout any more.
 */
must_check int trace_follow(struct arena *a, const char *state, struct str what,
			    trace_follow_visit *visit, void *ctx,
			    struct err *err);

#endif
