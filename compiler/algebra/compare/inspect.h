/*
 * compare.h, of what `tls` says of single grants: which destinations are
 * decrypted though no rule of theirs needs it.
 */
#ifndef COMPILER_ALGEBRA_COMPARE_INSPECT_H
#define COMPILER_ALGEBRA_COMPARE_INSPECT_H

#include "compiler/algebra/compare/compare.h"

void inspect_compare(struct arena *a, const struct ir_policy *old,
		     const struct ir_policy *now, struct comparison *out);

#endif
