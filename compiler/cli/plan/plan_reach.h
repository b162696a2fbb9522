/*
 * The part of the plan's text about the network: what can be reached, grouped
 * by ports, and what cannot.
 */
#ifndef COMPILER_CLI_PLAN_PLAN_REACH_H
#define COMPILER_CLI_PLAN_PLAN_REACH_H

#include "compiler/cli/plan/model.h"
#include "compiler/cli/text/view.h"

void plan_reach(const struct view *v, const struct plan_model *m);

#endif
