/*
 * The part of the plan's text about the trace: which events, under which
 * conditions, by whom, and what becomes of the files.
 */
#ifndef COMPILER_COMMANDS_PLAN_TRACE_H
#define COMPILER_COMMANDS_PLAN_TRACE_H

#include "compiler/commands/model.h"
#include "compiler/commands/view.h"

void plan_trace(const struct view *v, const struct plan_model *m);

#endif
