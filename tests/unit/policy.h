/*
 * A policy for tests of what comes behind the front: the floor, and what a
 * test puts into one document.
 */
#ifndef TESTS_UNIT_POLICY_H
#define TESTS_UNIT_POLICY_H

#include "compiler/emit/emit.h"
#include "compiler/passes/passes.h"

#include <stdio.h>
#include <string.h>

#define test_maybe_unused __attribute__((unused))

struct test_policy {
	struct arena *a;
	struct sources sources;
	struct diags diags;
	struct pass_ctx ctx;
	struct ir_policy doc; /* put things in here */
	struct ir_policy policy;
	enum layer layer;
};

static void test_policy_init(struct test_policy *t, struct arena *a,
			     enum layer layer)
{
	memset(t, 0, sizeof(*t));
	t->a = a;
	t->layer = layer;
	sources_init(&t->sources, a);
	diags_init(&t->diags, a, &t->sources);
	t->ctx = (struct pass_ctx){a, &t->sources, &t->diags};
}

/* A text of its own source, so that it has a place. */
static struct ir_text test_policy_text(struct test_policy *t, const char *s)
{
	const struct source *src =
		sources_add(&t->sources, STR("test"), str_of(s), t->layer);

	return (struct ir_text){
		{{src->base, src->base + (uint32_t)strlen(s)}, t->layer},
		str_of(s)};
}

test_maybe_unused static void test_policy_arg(struct test_policy *t,
					      const char *word)
{
	struct ir_text text = test_policy_text(t, word);

	/* One source for all words: a value may follow its option. */
	if (t->doc.args.n)
		text.from.at = t->doc.args.v[0].from.at;
	*vec_push(t->a, &t->doc.args) = text;
}

static bool test_policy_done(struct test_policy *t)
{
	docs list = {0};

	*vec_push(t->a, &list) = (struct doc){
		.layer = t->layer, .source = STR("test"), .policy = t->doc};
	return passes_layers(&t->ctx, &list, &t->policy) &&
	       passes_normalise(&t->ctx, &t->policy);
}

test_maybe_unused static void test_policy_show(const struct test_policy *t)
{
	struct buf b;

	buf_init(&b, t->a);
	diags_print(&t->diags, &b, false);
	fputs(b.p ? b.p : "", stdout);
}

test_maybe_unused static struct emit_in test_policy_in(struct test_policy *t)
{
	return (struct emit_in){.policy = &t->policy,
				.sources = &t->sources,
				.diags = &t->diags,
				.a = t->a};
}

#endif
