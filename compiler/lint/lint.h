/*
 * Findings about a whole policy that is taken as it is: warnings, each by its
 * name in base/lint.def. What refuses a policy is for the passes.
 *
 * Pure: the policy alone is looked at. Exceptions are in lint/waive.h.
 */
#ifndef COMPILER_LINT_LINT_H
#define COMPILER_LINT_LINT_H

#include "compiler/ir/doc.h"
#include "compiler/lint/parts.h"

/*
 * p is IR_NORMALISED; reached is what third_party_reach() says of it. Returns
 * one bool for each grant: denials make it void.
 */
const bool *lint_policy(struct pass_ctx *c, const struct ir_policy *p,
			const third_party_hits *reached);

/* A destination, for a message; that what was just warned of is about it. */
const char *lint_quoted(struct pass_ctx *c, const struct ir_dest *d);
void lint_about(struct pass_ctx *c, const struct ir_dest *d);

#endif
