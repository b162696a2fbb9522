/*
 * What a policy says of itself beside what it permits: what must hold (`never`,
 * tests) and which warnings are no news (`allow_lint`).
 *
 * None of it is access, so that one more of what must hold is no difference.
 * One less is: what it held back, or would have shown, goes through from now
 * on. So is an exception from a warning, which nobody sees any longer, and one
 * that is gone: somebody gave a reason for it.
 */
#ifndef COMPILER_ALGEBRA_COMPARE_PROMISES_H
#define COMPILER_ALGEBRA_COMPARE_PROMISES_H

#include "compiler/algebra/compare/compare.h"

/* Adds to *out, whose changes stay in their order. A plan has none of them. */
void promises_compare(struct arena *a, const struct ir_policy *old,
		      const struct ir_policy *now, struct comparison *out);

#endif
