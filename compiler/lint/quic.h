/*
 * Grants of UDP beside what is said of requests: QUIC carries requests too,
 * past everything that decides them (compiler/ir/inspection.h).
 */
#ifndef COMPILER_LINT_QUIC_H
#define COMPILER_LINT_QUIC_H

#include "compiler/ir/doc.h"

/* denied: one for each grant of p, of which nothing more needs to be said. */
void quic_lint(struct pass_ctx *c, const struct ir_policy *p,
	       const bool *denied);

#endif
