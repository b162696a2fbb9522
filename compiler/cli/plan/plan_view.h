/*
 * The plan for people: what the agent can reach, see and change, how it is
 * run, what stays open, what changed. Pure: model in, text out.
 */
#ifndef COMPILER_CLI_PLAN_PLAN_VIEW_H
#define COMPILER_CLI_PLAN_PLAN_VIEW_H

#include "compiler/cli/plan/model.h"
#include "compiler/cli/text/view.h"

void plan_view(const struct view *v, const struct plan_model *m);

#endif
