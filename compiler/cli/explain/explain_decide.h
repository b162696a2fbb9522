/*
 * `membrane explain --decide -`: verdict and reason of each request and no more,
 * for programs that ask of one policy a hundred thousand times.
 */
#ifndef COMPILER_CLI_EXPLAIN_EXPLAIN_DECIDE_H
#define COMPILER_CLI_EXPLAIN_EXPLAIN_DECIDE_H

#include "compiler/ir/ir.h"

/*
 * Reads lines of stdin until it ends, LIMIT_SOURCE_BYTES each at most, and
 * answers each before it waits for the next: "allow REASON", "ask REASON",
 * "deny REASON", or "error", of which stderr says more. An empty line and one
 * behind a '#' have no answer. About the policy alone, as `test` is.
 * p is IR_NORMALISED. STATUS_OK: all are allowed; STATUS_REFUSED, one is
 * denied; STATUS_USAGE, one could not be read; STATUS_IO.
 */
must_check int explain_decide(const struct ir_policy *p);

#endif
