/*
 * What a trace says of itself at its end: how many events it lacks, and why.
 * Pure. Several traces in one add up.
 */
#ifndef COMPILER_CLI_TRACES_TRACE_LOSSES_H
#define COMPILER_CLI_TRACES_TRACE_LOSSES_H

#include "compiler/base/arena.h"
#include "compiler/trace/event.h"

enum trace_loss {
	LOST_NO_ROOM,
	LOST_READS,
	LOST_IN_HOOKS,
	LOST_UNKNOWN_CALLS,
	LOST_ANSWERS,
	LOST_IN_KERNEL, /* by Tracee, as the next two */
	LOST_BROKEN,
	LOST_REASONS,
};

struct trace_losses {
	uint64_t all, of[LOST_REASONS];
	bool has_end;
};

/* Any event: those that are not of the trace itself are passed over. */
void trace_losses_add(struct trace_losses *l, const struct trace_event *e);
/* "12 events are missing (no room: 12)"; empty when none is. */
struct str trace_losses_text(struct arena *a, const struct trace_losses *l);

#endif
