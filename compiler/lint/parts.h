/*
 * The checks, each in the file named above it; lint.c calls them all.
 */
#ifndef COMPILER_LINT_PARTS_H
#define COMPILER_LINT_PARTS_H

#include "compiler/base/gitignore.h"
#include "compiler/base/third_party.h"
#include "compiler/ir/doc.h"
#include "compiler/ir/ir.h"

/* --- literals.c ---------------------------------------------------------- */

void literals_lint(struct pass_ctx *c, const struct ir_policy *p);

/* --- grants.c ------------------------------------------------------------ */

/* denied: one for each grant of p, of which nothing more needs to be said. */
void grants_lint(struct pass_ctx *c, const struct ir_policy *p,
		 const bool *denied);

/* --- quic.c -------------------------------------------------------------- */

/* denied: one for each grant of p, of which nothing more needs to be said. */
void quic_lint(struct pass_ctx *c, const struct ir_policy *p,
	       const bool *denied);

/* --- uses.c -------------------------------------------------------------- */

/*
 * Warn of grants that are denied or overlap, and of rules that others hold
 * whole or that are there twice. Returns one bool for each
 * grant of p: it is denied, and said to be. Where there are too many
 * combinations for the algebra (limits.h), only what is there twice is found.
 */
const bool *uses_lint(struct pass_ctx *c, const struct ir_policy *p);

/* --- mistaken.c ---------------------------------------------------------- */

/* What somebody who wrote this pattern may have thought, and what is so. */
struct mistaken {
	const char *fact; /* a clause; NULL: it says what it seems to */
	struct str help;
};

/* workspace: its path on the host. */
struct mistaken mistaken_pattern(struct arena *a, struct str line,
				 struct str workspace);

/* --- third_party.c ------------------------------------------------------- */

/* A row and a grant that reaches it. */
struct third_party_hit {
	const struct third_party *place;
	const struct ir_grant *grant;
	struct str name; /* what of the row's names it is: a name or pattern */
};
typedef VEC(struct third_party_hit) third_party_hits;

/*
 * All of p, IR_NORMALISED: the grants in their order, and for each the rows in
 * theirs. p is borrowed by *out.
 */
void third_party_reach(struct arena *a, const struct ir_policy *p,
		       third_party_hits *out);

#endif
