/*
 * What a comparison shows, tried on the two policies as they are: by decide.h
 * alone, and not by the classes, cells and views that found it.
 */
#ifndef COMPILER_ALGEBRA_COMPARE_WITNESS_H
#define COMPILER_ALGEBRA_COMPARE_WITNESS_H

#include "compiler/algebra/compare/compare.h"

/* Do the two decide the change's witness as it says? Without one: true. */
bool witness_holds(struct arena *a, const struct ir_policy *old,
		   const struct ir_policy *now, const struct access_change *c);
/*
 * The first of *c that does not hold, or NULL. Of very many, those beyond
 * LIMIT_WITNESSES are left as they were found: decided by the rules that speak
 * of their destination.
 */
const struct access_change *witness_refuted(const struct ir_policy *old,
					    const struct ir_policy *now,
					    const struct comparison *c);

#endif
