/*
 * Whether two path patterns can match one path: what a '!' may take back.
 *
 * Looks at the last segments alone, and not into classes and escapes. "No" is
 * certain; "yes" may be wrong.
 */
#ifndef COMPILER_PASSES_PATTERN_INTERSECT_H
#define COMPILER_PASSES_PATTERN_INTERSECT_H

#include "compiler/ir/ir.h"

bool pattern_meet(const struct ir_pattern *a, const struct ir_pattern *b);

#endif
