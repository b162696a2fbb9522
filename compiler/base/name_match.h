/*
 * Names of hosts against the patterns that a policy writes: '*' is one label,
 * a leading '**' one or more, "**" alone any name.
 *
 * The gate has a matcher of its own (runtime/gate/plan/names.c): oracles and
 * proofs hold the two against each other.
 */
#ifndef COMPILER_BASE_NAME_MATCH_H
#define COMPILER_BASE_NAME_MATCH_H

#include "compiler/base/str.h"

/*
 * Both canonical. Of a name that is a pattern itself: whether all that it
 * matches is matched.
 */
bool name_matches(struct str pattern, struct str name);

#endif
