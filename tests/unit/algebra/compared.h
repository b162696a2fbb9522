/*
 * Two policies, written as in tests/policy.h or in YAML, and what compare.h
 * says of them in lines:
 *
 *	+ tcp/443 a.test | a.test:443
 *		new 'allow a.test:443': no-grant -> granted
 *
 * A sign for the way ('=': kept), the text, the witness; the line that is
 * responsible and whose it is; what either policy decides of the witness. Of
 * what is kept also the line that was responsible before, if it is another one.
 */
#ifndef TESTS_UNIT_ALGEBRA_COMPARED_H
#define TESTS_UNIT_ALGEBRA_COMPARED_H

#include "compiler/algebra/compare/compare.h"
#include "compiler/front/bind/bind.h"
#include "compiler/ir/text.h"

#include "tests/check.h"
#include "tests/policy.h"

struct compared {
	struct test_policy side[2];
	const char *text[2];
	struct comparison c;
};

static inline void compared_read(struct compared *x, const char *old,
				 const char *now)
{
	const char *const text[] = {old, now};

	for (int i = 0; i < 2; i++) {
		x->text[i] = text[i];
		CHECK_MSG(test_policy_make(&x->side[i], text[i]), "%s",
			  text[i]);
	}
}

/* One policy, the global one, from YAML. */
static inline bool compared_bind(struct test_policy *t, const char *text)
{
	struct yaml_node *root;
	ir_texts extends = {0};
	struct doc *d;

	*t = (struct test_policy){.a = arena_new()};
	sources_init(&t->sources, t->a);
	diags_init(&t->diags, t->a, &t->sources);
	t->ctx = (struct pass_ctx){t->a, &t->sources, &t->diags};
	d = test_doc(t, LAYER_GLOBAL);
	t->ok = yaml_parse(t->a, &t->diags,
			   sources_add(&t->sources, STR("test"), str_of(text),
				       LAYER_GLOBAL),
			   &root) &&
		bind_policy(&t->ctx, LAYER_GLOBAL, root, &d->policy,
			    &extends) &&
		passes_layers(&t->ctx, &t->docs, &t->policy) &&
		passes_normalise(&t->ctx, &t->policy);
	return t->ok;
}

static inline void compared_read_yaml(struct compared *x, const char *old,
				      const char *now)
{
	const char *const text[] = {old, now};

	for (int i = 0; i < 2; i++) {
		x->text[i] = text[i];
		CHECK_MSG(compared_bind(&x->side[i], text[i]), "%s: %s",
			  text[i], test_policy_said(&x->side[i]).p);
	}
}

static inline void compared_done(struct compared *x)
{
	for (int i = 0; i < 2; i++)
		test_policy_done(&x->side[i]);
}

/* The line of a policy that an origin is in; "-" where it has none. */
static inline struct str compared_line(const struct compared *x, int side,
				       struct ir_origin from)
{
	if (from.at.beg == 0)
		return STR("-");
	return str_slice(str_of(x->text[side]), from.at.beg - 1,
			 from.at.end - 1);
}

static inline void compared_put(const struct compared *x,
				const struct access_change *c, struct buf *b)
{
	buf_addf(b, "%c %.*s", "+-~="[c->way], STR_ARG(c->text));
	if (c->has_witness)
		buf_addf(b, " | %.*s", STR_ARG(c->witness.text));
	buf_addf(b, "\n\t%s '%.*s'", c->why_old ? "old" : "new",
		 STR_ARG(compared_line(x, !c->why_old, c->why)));
	if (c->has_before)
		buf_addf(b, ", old '%.*s'",
			 STR_ARG(compared_line(x, 0, c->before)));
	/* The same rules as the decisions have. */
	CHECK(c->way != ACCESS_KEPT || !c->is.grant ||
	      (c->is.grant->from.at.beg == c->why.at.beg &&
	       (c->has_before
			? c->was.grant->from.at.beg == c->before.at.beg
			: str_eq(c->was.grant->canon, c->is.grant->canon))));
	if (c->has_witness)
		buf_addf(b, ": %s -> %s", reason_name(c->was.reason),
			 reason_name(c->is.reason));
	buf_addc(b, '\n');
}

/* The changes, then what is kept, if that was asked for. */
static inline struct str compared_said(const struct compared *x)
{
	struct buf b;

	buf_init(&b, x->side[1].a);
	vec_each(c, &x->c.changes)
		compared_put(x, c, &b);
	vec_each(c, &x->c.kept)
		compared_put(x, c, &b);
	return buf_str(&b);
}

struct compared_case {
	const char *old, *now, *said;
};

/* What one part of compare.h finds between two policies, as read has them. */
static inline void compared_check(
	const struct compared_case *cases, size_t n,
	void (*read)(struct compared *x, const char *old, const char *now),
	bool with_kept,
	void (*compare)(struct arena *a, const struct ir_policy *old,
			const struct ir_policy *now, struct comparison *out))
{
	for (size_t i = 0; i < n; i++) {
		struct compared x = {.c = {.with_kept = with_kept}};
		struct str got;

		read(&x, cases[i].old, cases[i].now);
		compare(x.side[1].a, &x.side[0].policy, &x.side[1].policy,
			&x.c);
		got = compared_said(&x);
		CHECK_MSG(str_is(got, cases[i].said), "%zu:\n%.*swanted:\n%s",
			  i, STR_ARG(got), cases[i].said);
		compared_done(&x);
	}
}

#endif
