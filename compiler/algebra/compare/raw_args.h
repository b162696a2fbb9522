/*
 * compare.h, of raw arguments: requests of their own, "docker-arg
 * --name=value".
 */
#ifndef COMPILER_ALGEBRA_COMPARE_RAW_ARGS_H
#define COMPILER_ALGEBRA_COMPARE_RAW_ARGS_H

#include "compiler/algebra/compare/compare.h"

void raw_args_compare(struct arena *a, const struct ir_policy *old,
		      const struct ir_policy *now, struct comparison *out);

#endif
