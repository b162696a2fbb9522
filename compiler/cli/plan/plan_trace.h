/*
 * The part of the plan's text about the trace: which events, under which
 * conditions, by whom, and what becomes of the files.
 */
#ifndef COMPILER_CLI_PLAN_PLAN_TRACE_H
#define COMPILER_CLI_PLAN_PLAN_TRACE_H

#include "compiler/cli/plan/model.h"
#include "compiler/cli/text/view.h"

void plan_trace(const struct view *v, const struct plan_model *m);

#endif
