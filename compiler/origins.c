/*
 * Where the rules of a written plan came from, put back into its policy.
 *
 * policy.json says what a plan permits, and provenance.json of the same plan
 * where people wrote that. After this, the rules of a policy that was compiled
 * from policy.json are at the places of the latter: `.membrane.yaml:3`, so that
 * diagnostics, comparisons and the next provenance.json name them as before.
 */
#include "compiler/parts.h"

#include "compiler/base/json.h"
#include "compiler/base/limits.h"

#include <string.h>

#define LINE_MAX_ADOPTED   200000u /* lines in one source */
#define COLUMN_MAX_ADOPTED 4096u   /* a rule further right is shown there */

/* One rule, and where the record has it. */
struct origin {
	struct ir_grant *grant;
	struct str source;
	enum layer layer;
	uint32_t line, column; /* from 1 */
};
typedef VEC(struct origin) origins;

static bool layer_of(struct str name, enum layer *out)
{
	for (enum layer l = LAYER_FLOOR; l <= LAYER_SESSION; l++)
		if (str_is(name, layer_name(l))) {
			*out = l;
			return true;
		}
	return false;
}

static void find_rule(struct arena *a, const cJSON *rules, ir_grants *grants,
		      origins *out)
{
	vec_each(g, grants) {
		const cJSON *o = cJSON_GetObjectItemCaseSensitive(
			rules, arena_cstr(a, g->id));
		struct origin x = {.grant = g};
		struct str source, layer;

		if (!o || g->from.layer == LAYER_FLOOR ||
		    g->from.layer == LAYER_SESSION ||
		    !json_get_str(o, "source", &source) ||
		    !json_get_str(o, "layer", &layer) ||
		    !layer_of(layer, &x.layer) || x.layer == LAYER_FLOOR)
			continue;
		x.source = arena_str(a, source);
		x.line = (uint32_t)json_find_u64(o, "line", LINE_MAX_ADOPTED);
		x.column = (uint32_t)json_find_u64(o, "column",
						   COLUMN_MAX_ADOPTED);
		if (x.line && x.column)
			*vec_push(a, out) = x;
	}
}

static int by_place(const void *va, const void *vb)
{
	const struct origin *a = va, *b = vb;
	int by_source = str_cmp(a->source, b->source);

	if (by_source)
		return by_source;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return a->column < b->column ? -1 : a->column > b->column;
}

/*
 * The text of one source: blank but for the rules. One that would run into the
 * next on its line is cut.
 */
static void write_one(struct pass_ctx *c, struct origin *v, uint32_t n)
{
	uint32_t line = 1, column = 1, base = c->sources->end;
	struct buf text;

	buf_init(&text, c->a);
	for (uint32_t i = 0; i < n; i++) {
		struct str rule = v[i].grant->canon;

		for (; line < v[i].line; line++, column = 1)
			buf_addc(&text, '\n');
		for (; column < v[i].column; column++)
			buf_addc(&text, ' ');
		if (i + 1 < n && v[i + 1].line == line &&
		    column + rule.n >= v[i + 1].column)
			rule = str_slice(rule, 0,
					 v[i + 1].column > column
						 ? v[i + 1].column - column
						 : 0);
		v[i].grant->from =
			(struct ir_origin){{base + (uint32_t)text.n,
					    base + (uint32_t)(text.n + rule.n)},
					   v[i].layer};
		buf_add(&text, rule);
		column += (uint32_t)rule.n;
	}
	sources_add(c->sources, v[0].source, buf_keep(&text), v[0].layer);
}

bool origins_adopt(struct pass_ctx *c, struct str text, struct ir_policy *p)
{
	cJSON *root = cJSON_ParseWithLength(text.p, text.n);
	const cJSON *rules = cJSON_GetObjectItemCaseSensitive(root, "rules");
	origins all = {0};
	uint32_t from = 0;

	if (!cJSON_IsObject(rules)) {
		cJSON_Delete(root);
		return false;
	}
	find_rule(c->a, rules, &p->allow, &all);
	find_rule(c->a, rules, &p->ask, &all);
	find_rule(c->a, rules, &p->deny, &all);
	cJSON_Delete(root);
	vec_sort(&all, by_place);
	for (uint32_t i = 1; i <= all.n; i++) {
		if (i < all.n && str_eq(all.v[i].source, all.v[from].source))
			continue;
		write_one(c, all.v + from, i - from);
		from = i;
	}
	return true;
}
