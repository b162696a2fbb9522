/*
 * Rules that do nothing, or stand in each other's way: algebra/rules.h, told
 * as warnings.
 *
 * A rule is held against those of its own author alone: the user's files and
 * what they extend, the workspace's, the command line. That a workspace asks
 * for what its user's file grants anyway is no fault of either, and for two
 * presets that have a line in common their reader can do nothing. A denial
 * makes a grant void wherever it stands; that nothing grants what it denies is
 * no fault of it: others may yet.
 */
#ifndef COMPILER_LINT_USES_H
#define COMPILER_LINT_USES_H

#include "compiler/ir/doc.h"

/*
 * Warn of grants that are denied or overlap, and of rules that others hold
 * whole or that are there twice. Returns one bool for each
 * grant of p: it is denied, and said to be. Where there are too many
 * combinations for the algebra (limits.h), only what is there twice is found.
 */
const bool *uses_lint(struct pass_ctx *c, const struct ir_policy *p);

#endif
