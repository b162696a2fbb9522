/*
 * What checks a trace shares.
 */
#ifndef COMPILER_PASSES_TRACE_PARTS_H
#define COMPILER_PASSES_TRACE_PARTS_H

#include "compiler/ir/doc.h"
#include "compiler/ir/tracee.h"

struct trace_filter_ctx {
	struct pass_ctx *c;
	const struct ir_trace *t;
	unsigned release; /* that they are for */
	/* For the built-in tracer, whose paths are those that the agent sees,
	 * compared outside of the kernel. */
	bool native;
};

/* All filters of entry, as filters of e. False after reporting. */
must_check bool trace_filter_check(const struct trace_filter_ctx *x,
				   const struct tracee_event *e,
				   const struct ir_trace_event *entry);

#endif
