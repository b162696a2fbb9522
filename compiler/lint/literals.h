/*
 * Secrets that were written into the policy itself: in docker's arguments and
 * in the format of a credential.
 */
#ifndef COMPILER_LINT_LITERALS_H
#define COMPILER_LINT_LITERALS_H

#include "compiler/ir/doc.h"

void literals_lint(struct pass_ctx *c, const struct ir_policy *p);

#endif
