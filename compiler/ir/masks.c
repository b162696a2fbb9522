/* How what is hidden or read-only holds. */
#include "compiler/ir/ir.h"

/* The default stands here alone; docker_check.c refuses what cannot be. */
bool ir_masks_hold(const struct ir_policy *p)
{
	return p->masks.set && p->masks.v == IR_MASKS_HOLD;
}
