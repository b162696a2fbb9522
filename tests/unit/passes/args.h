/* Raw docker arguments, a word on each line, and what is said of them. */
#ifndef TESTS_UNIT_PASSES_ARGS_H
#define TESTS_UNIT_PASSES_ARGS_H

#include "compiler/passes/args/args.h"
#include "tests/check.h"

#include <stdio.h>
#include <string.h>

static struct arena *a;
static struct sources sources;
static struct diags diags;
static struct ir_policy policy;
static struct pass_ctx ctx;

/* The words, one per line, as a source of that layer. */
static void add_words(enum layer layer, const char *words)
{
	const struct source *src =
		sources_add(&sources, STR("x"), str_of(words), layer);
	uint32_t at = src->base;
	struct str rest = str_of(words), word;

	while (str_field(&rest, '\n', &word)) {
		*vec_push(a, &policy.args) = (struct ir_text){
			{{at, at + (uint32_t)word.n}, layer}, word};
		at += (uint32_t)word.n + 1;
	}
}

static void fresh(void)
{
	sources_init(&sources, a);
	diags_init(&diags, a, &sources);
	memset(&policy, 0, sizeof(policy));
	ctx = (struct pass_ctx){a, &sources, &diags};
}

static bool resolve(enum layer layer, const char *words)
{
	fresh();
	add_words(layer, words);
	return args_resolve(&ctx, &policy);
}

static inline void shown(const char *words)
{
	struct buf b;

	buf_init(&b, a);
	diags_print(&diags, &b, false);
	printf("for '%s':\n%s", words, b.p ? b.p : "");
}

static inline enum diag_id first_id(void)
{
	struct diag_view v;

	return diags_get(&diags, 0, &v) ? v.id : 0;
}

#endif
