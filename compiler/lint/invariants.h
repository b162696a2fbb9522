/*
 * What nothing may permit, held against a whole policy: `never`.
 *
 * That of the global file, and of what it extends, binds every layer: with a
 * request in it that the merged policy permits there is no plan. That of a
 * workspace is a test like the others.
 */
#ifndef COMPILER_LINT_INVARIANTS_H
#define COMPILER_LINT_INVARIANTS_H

#include "compiler/algebra/decide/decide.h"
#include "compiler/ir/doc.h"

/* False after reporting each binding `never` that p breaks. p is normalised. */
must_check bool invariants_hold(struct pass_ctx *c, const struct ir_policy *p);

/*
 * Proved that p permits nothing of the set? Otherwise false, after reporting
 * it with its witness and the rule behind that.
 */
must_check bool invariants_never(struct pass_ctx *c, const struct ir_policy *p,
				 const struct ir_never *n,
				 struct ir_request *out_witness,
				 struct decision *out, struct ir_origin *rule);

/*
 * A note at the rule behind a decision, on the diagnostic before it, or what
 * would decide otherwise. Where that rule stands, or the zero origin.
 */
struct ir_origin invariants_rule(struct pass_ctx *c, const struct ir_policy *p,
				 const struct ir_request *r,
				 const struct decision *d);

#endif
