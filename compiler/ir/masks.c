/* How what is hidden or read-only holds, and what takes runc. */
#include "compiler/ir/ir.h"

bool ir_runtime_is_runc(const struct ir_policy *p)
{
	return !p->runtime.set || p->runtime.v == IR_RUNTIME_RUNC;
}

/* The default stands here alone; docker_check.c refuses what cannot be. */
bool ir_masks_hold(const struct ir_policy *p)
{
	if (p->masks.set)
		return p->masks.v == IR_MASKS_HOLD;
	return ir_runtime_is_runc(p);
}

bool ir_ssh_agent(const struct ir_policy *p)
{
	return p->ssh_agent.set && p->ssh_agent.v;
}
