#include "compiler/cli/review/expect.h"

#include "compiler/algebra/decide/ask.h"
#include "compiler/lint/invariants.h"

#include <stdlib.h>

struct expect {
	struct compilation *c;
	struct decide_files *files;
	expectations *out;
	struct diags diags; /* of one expectation */
};

const char *expect_name(enum expect_kind kind)
{
	switch (kind) {
	case EXPECT_ALLOW:
		return "allow";
	case EXPECT_ASK:
		return "ask";
	case EXPECT_DENY:
		return "deny";
	case EXPECT_NEVER:
		return "never";
	case EXPECT_COMPILE:
		return "compile";
	}
	abort();
}

static struct str printed_diags(const struct diags *d, bool colour)
{
	struct buf b;

	buf_init(&b, d->a);
	diags_print(d, &b, colour);
	return buf_str(&b);
}

static void finish_expectation(struct expect *e, struct expectation *x)
{
	struct diag_view first;

	if (!x->passed && diags_get(&e->diags, 0, &first)) {
		x->said = printed_diags(&e->diags, false);
		x->coloured = printed_diags(&e->diags, true);
		x->summary = first.text;
	}
	*vec_push(e->c->a, e->out) = *x;
}

/* A context whose diagnostics are those of one expectation. */
static struct pass_ctx begin_expectation(struct expect *e)
{
	diags_init(&e->diags, e->c->a, &e->c->sources);
	return (struct pass_ctx){e->c->a, &e->c->sources, &e->diags};
}

/* What it is instead. */
static void say_otherwise(struct diags *d, const struct ir_request *r,
			  enum verdict wanted, const struct decision *was)
{
	static const enum diag_id ids[] = {[VERDICT_DENY] = DIAG_EXPECT_DENY,
					   [VERDICT_ASK] = DIAG_EXPECT_ASK,
					   [VERDICT_ALLOW] = DIAG_EXPECT_ALLOW};
	const char *text = diag_quote(d, r->text);

	switch (was->verdict) {
	case VERDICT_ALLOW:
		diag_error(d, ids[wanted], r->from.at, "'%s' is allowed%s",
			   text,
			   wanted == VERDICT_ASK ? ", and nobody is asked"
						 : "");
		return;
	case VERDICT_ASK:
		diag_error(d, ids[wanted], r->from.at,
			   wanted == VERDICT_ALLOW
				   ? "'%s' is asked about before"
				   : "'%s' is asked about, and may be permitted",
			   text);
		return;
	case VERDICT_DENY:
		diag_error(d, ids[wanted], r->from.at, "'%s' is denied: %s (%s)",
			   text, reason_about(was->reason),
			   reason_name(was->reason));
		return;
	}
	abort();
}

static void expect_request(struct expect *e, enum expect_kind kind,
			   enum verdict verdict, const struct ir_request *r)
{
	const struct ir_policy *p = &e->c->policy;
	struct pass_ctx ctx = begin_expectation(e);
	struct expectation x = {.kind = kind, .from = r->from, .text = r->text};

	x.has_decision = true;
	x.was = decide_asked(e->c->a, p, e->files, r);
	x.passed = x.was.verdict == verdict;
	say_otherwise(&e->diags, r, verdict, &x.was);
	x.rule = invariants_rule(&ctx, p, r, &x.was);
	finish_expectation(e, &x);
}

static void expect_never(struct expect *e, const struct ir_never *n)
{
	struct pass_ctx ctx = begin_expectation(e);
	struct expectation x = {.kind = EXPECT_NEVER,
				.from = n->from,
				.text = ir_never_text(e->c->a, n)};
	struct ir_request witness;

	x.passed = invariants_never(&ctx, &e->c->policy, n, &witness, &x.was,
				    &x.rule);
	if (!x.passed) {
		x.has_decision = true;
		x.witness = witness.text;
	}
	finish_expectation(e, &x);
}

void expect_all(struct compilation *c, const struct ir_tests *tests,
		expectations *out)
{
	struct expect e = {.c = c,
			   .files = decide_files_new(c->a, &c->policy),
			   .out = out};

	vec_each(r, &tests->allow)
		expect_request(&e, EXPECT_ALLOW, VERDICT_ALLOW, r);
	vec_each(r, &tests->ask)
		expect_request(&e, EXPECT_ASK, VERDICT_ASK, r);
	vec_each(r, &tests->deny)
		expect_request(&e, EXPECT_DENY, VERDICT_DENY, r);
	vec_each(n, &tests->never)
		expect_never(&e, n);
}

void expect_refused(struct arena *a, const struct diags *diags,
		    expectations *out)
{
	struct expectation x = {.kind = EXPECT_COMPILE,
				.text = STR("the policy compiles")};
	struct diags copy = *diags; /* to be put in order */
	struct diag_view one;

	for (unsigned i = 0; diags_get(&copy, i, &one); i++)
		if (one.error) {
			x.from.at = one.at;
			x.summary = one.text;
			break;
		}
	x.said = printed_diags(diags, false);
	*vec_push(a, out) = x;
}

uint64_t expect_failed(const expectations *list)
{
	uint64_t n = 0;

	vec_each(x, list)
		n += !x->passed;
	return n;
}
