/*
 * The part of the plan's text about the network: what can be reached, grouped
 * by ports, and what cannot.
 */
#ifndef COMPILER_COMMANDS_PLAN_REACH_H
#define COMPILER_COMMANDS_PLAN_REACH_H

#include "compiler/commands/model.h"
#include "compiler/commands/view.h"

void plan_reach(const struct view *v, const struct plan_model *m);
/* Whether the grant's TLS is terminated in the gate; semantics.md, 3. */
bool plan_reach_decrypts(const struct ir_policy *p, const struct ir_grant *g);

#endif
