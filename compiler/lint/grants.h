/*
 * Grants and credentials that are odd by themselves: paths that never match,
 * parts of the floor, everything at once.
 */
#ifndef COMPILER_LINT_GRANTS_H
#define COMPILER_LINT_GRANTS_H

#include "compiler/ir/doc.h"

/* denied: one for each grant of p, of which nothing more needs to be said. */
void grants_lint(struct pass_ctx *c, const struct ir_policy *p,
		 const bool *denied);

#endif
