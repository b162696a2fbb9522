/*
 * Trace events: wildcards and set names expanded, events and filters checked
 * against the schema of Tracee 0.20 to 0.24 (compiler/ir/tracee.h).
 */
#ifndef COMPILER_PASSES_TRACE_TRACE_H
#define COMPILER_PASSES_TRACE_TRACE_H

#include "compiler/ir/doc.h"

/*
 * Part of normalise. p->trace.events becomes one entry per event, in the order
 * of names, filters united; the defaults when no events were written. False
 * after reporting an unknown event or field, or a filter that Tracee would
 * refuse or silently not apply.
 */
must_check bool trace_expand(struct pass_ctx *c, struct ir_policy *p);

#endif
