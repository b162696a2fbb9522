/*
 * The expectations of a policy, held against it: what `membrane test` reports
 * as text, JSON or JUnit.
 */
#ifndef COMPILER_CLI_REVIEW_EXPECT_H
#define COMPILER_CLI_REVIEW_EXPECT_H

#include "compiler/algebra/decide/decide.h"
#include "compiler/base/diag.h"
#include "compiler/driver.h"

enum expect_kind {
	EXPECT_ALLOW,
	EXPECT_ASK,
	EXPECT_DENY,
	EXPECT_NEVER,
	EXPECT_COMPILE, /* the policy and its tests can be read at all */
};

struct expectation {
	enum expect_kind kind;
	struct ir_origin from;
	struct str text; /* the request, or the set; as people write it */
	bool passed;
	/* Of the request; of the witness where a `never` is broken. */
	bool has_decision;
	struct decision was;
	struct ir_origin rule; /* that decided, or came nearest; may be zero */
	struct str witness;    /* a request; of a broken `never` alone */
	struct str said;       /* the diagnostic, without colour, or empty */
	struct str coloured;
	struct str summary; /* its first line, without place and number */
};
typedef VEC(struct expectation) expectations;

/*
 * Hold all of tests against c->policy, which is normalised, in their order:
 * allow, ask, deny, never.
 */
void expect_all(struct compilation *c, const struct ir_tests *tests,
		expectations *out);
/* The one expectation that did not come true where there is no policy; what
 * was reported is in diags. */
void expect_refused(struct arena *a, const struct diags *diags,
		    expectations *out);
uint64_t expect_failed(const expectations *list);
const char *expect_name(enum expect_kind kind); /* "allow", "never", … */

#endif
