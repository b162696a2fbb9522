/*
 * What two destinations have in common, where a destination says it.
 */
#ifndef COMPILER_ALGEBRA_SPACE_INTERSECT_H
#define COMPILER_ALGEBRA_SPACE_INTERSECT_H

#include "compiler/ir/ir.h"

/* The names of both patterns; false when there are none. */
must_check bool intersect_names(struct arena *a, struct str x, struct str y,
				struct str *out);
/*
 * Of a name and a network, or of two that have nothing in common: false. URLs
 * count as their hosts.
 */
must_check bool intersect_dest(struct arena *a, const struct ir_dest *x,
			       const struct ir_dest *y, struct ir_dest *out);
/* Are they about the same names or addresses? */
bool intersect_same(const struct ir_dest *x, const struct ir_dest *y);

#endif
