/*
 * compare.h, of connections, requests of HTTP and questions to the resolver.
 */
#ifndef COMPILER_ALGEBRA_COMPARE_REACH_H
#define COMPILER_ALGEBRA_COMPARE_REACH_H

#include "compiler/algebra/compare/access.h"

/* False: there were too many combinations, and not all were looked at. */
must_check bool reach_compare(struct arena *a, const struct ir_policy *old,
			      const struct ir_policy *now,
			      struct comparison *out);

#endif
