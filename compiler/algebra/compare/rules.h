/*
 * Which rules of a policy do something, and beside which others: for lint.
 *
 * By the cells of compare.h: a rule is used when there is a request that would
 * be decided otherwise without it.
 */
#ifndef COMPILER_ALGEBRA_COMPARE_RULES_H
#define COMPILER_ALGEBRA_COMPARE_RULES_H

#include "compiler/algebra/decide/decide.h"

enum rule_use {
	RULE_USED,
	/* Other rules permit, or deny, all of it. Of rules that say the same,
	 * all but one: all that are told so can go together. */
	RULE_SHADOWED,
	RULE_DEAD, /* a grant: all of it is denied; or there is nothing */
	/* Used, and others that are not shadowed permit, or deny, a part. */
	RULE_OVERLAPS,
};

struct rule_finding {
	enum rule_use use;
	/* The rule that has most of it in common; NULL with RULE_USED, and
	 * where nothing has a part of it. */
	const struct ir_grant *by;
};

/*
 * One finding per grant and per denial of p, which is IR_NORMALISED, at its
 * index; those of the floor are RULE_USED. False: too many combinations
 * (limits.h), and every finding is RULE_USED.
 */
must_check bool rules_find(struct arena *a, const struct ir_policy *p,
			   struct rule_finding **out_allow,
			   struct rule_finding **out_deny);

#endif
