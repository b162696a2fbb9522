/*
 * What a policy leaves open although it is enforced to the letter: "residual
 * risk" in the plan. Only what applies to the policy at hand.
 */
#ifndef COMPILER_CLI_PLAN_RISKS_H
#define COMPILER_CLI_PLAN_RISKS_H

#include "compiler/ir/ir.h"

struct risk {
	const char *id;	       /* stable: "shared-address" */
	struct str text;       /* one sentence; cleaned */
	struct ir_origin from; /* the first line that it comes from, or none */
};
typedef VEC(struct risk) risk_list;

/* p is IR_NORMALISED. */
void risks_find(struct arena *a, const struct ir_policy *p, risk_list *out);
/* Not all of the workspace was searched for likely secrets. */
void risks_unsearched(struct arena *a, risk_list *out);

#endif
