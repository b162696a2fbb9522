/*
 * compare.h, of what is no request: hardening, trace, image and the like. In
 * order from tight to loose where there is one.
 */
#ifndef COMPILER_ALGEBRA_COMPARE_SETTINGS_H
#define COMPILER_ALGEBRA_COMPARE_SETTINGS_H

#include "compiler/algebra/compare/compare.h"

void settings_compare(struct arena *a, const struct ir_policy *old,
		      const struct ir_policy *now, struct comparison *out);

#endif
