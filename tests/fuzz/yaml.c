/*
 * A policy file, all the way: YAML, schema, passes and emitters. What is
 * refused has a reason at a place inside the file, and what is not refused
 * gets an artefact from every emitter; what breaks one of its 'never' is a
 * request that can be written down, and that it permits.
 */
#include "compiler/algebra/compare/never.h"
#include "compiler/algebra/decide/ask.h"
#include "compiler/emit/emit.h"
#include "compiler/front/bind/bind.h"
#include "compiler/front/word/request.h"
#include "compiler/lint/lint.h"
#include "compiler/lint/waive.h"
#include "compiler/passes/passes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_diags(const struct diags *d, const struct sources *s)
{
	struct diag_view v;
	struct buf out;

	for (unsigned i = 0; i < 50 && diags_get(d, i, &v); i++)
		if (v.at.end < v.at.beg || v.at.end > s->end || v.text.n == 0)
			__builtin_trap();
	buf_init(&out, d->a);
	diags_print(d, &out, true);
	if (d->errors && out.n == 0)
		__builtin_trap();
}

static void check_never(struct pass_ctx *c, const struct ir_policy *p)
{
	struct decide_files *files = decide_files_new(c->a, p);

	for (uint32_t i = 0; i < p->tests.never.n && i < 8; i++) {
		struct ir_request witness, again;
		struct decision d;
		struct text text = {0};

		if (!never_find(c->a, p, &p->tests.never.v[i], &witness, &d))
			continue;
		text.s = witness.text;
		if (text.s.n == 0)
			continue; /* too large to be proved */
		if (d.verdict == VERDICT_DENY ||
		    decide_asked(c->a, p, files, &witness).verdict !=
			    d.verdict ||
		    !request_parse(c, &text, &again) ||
		    decide_asked(c->a, p, files, &again).verdict != d.verdict)
			__builtin_trap();
	}
}

/*
 * What is found is printed or has an exception, whatever the day; later there
 * are no more exceptions than before.
 */
static void check_lint(struct pass_ctx *c, const struct ir_policy *p)
{
	static const uint32_t days[] = {0, 20000, UINT32_MAX};
	uint32_t last = UINT32_MAX;

	for (size_t i = 0; i < ARRAY_LEN(days); i++) {
		third_party_hits reached = {0};
		waived_list waived = {0};
		struct diags found;
		struct pass_ctx ctx = *c;
		unsigned before;

		diags_init(&found, c->a, c->sources);
		ctx.diags = &found;
		third_party_reach(c->a, p, &reached);
		lint_policy(&ctx, p, &reached);
		before = found.warnings;
		waive_warnings(&ctx, p, days[i], true, &waived);
		if (found.errors || found.warnings + waived.n < before ||
		    waived.n > last)
			__builtin_trap();
		last = waived.n;
		check_diags(&found, c->sources);
	}
}

static bool compile(struct pass_ctx *c, const struct source *src)
{
	struct yaml_node *root;
	ir_texts extends = {0};
	struct ir_policy p;
	docs list = {0};
	struct plan plan = {0};
	struct emit_in in = {&p, c->sources, c->diags, c->a, NULL, NULL};
	struct doc *doc;

	if (!yaml_parse(c->a, c->diags, src, &root))
		return false;
	doc = vec_push(c->a, &list);
	doc->layer = LAYER_WORKSPACE;
	doc->source = src->name;
	if (!bind_policy(c, doc->layer, root, &doc->policy, &extends) ||
	    !passes_layers(c, &list, &p) || !passes_normalise(c, &p) ||
	    !passes_conflicts(c, &p) || !emit_all(&in, &plan))
		return false;
	check_never(c, &p);
	check_lint(c, &p);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	struct str text = {(const char *)data, size};
	struct sources s;
	struct diags d;
	struct pass_ctx c = {a, &s, &d};
	const struct source *src;
	bool ok;

	sources_init(&s, a);
	diags_init(&d, a, &s);
	src = sources_add(&s, STR(".membrane.yaml"), text, LAYER_WORKSPACE);
	ok = compile(&c, src);
	check_diags(&d, &s);
	if (ok != (d.errors == 0))
		__builtin_trap();
	arena_free(a);
	return 0;
}
