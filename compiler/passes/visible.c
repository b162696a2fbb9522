/* `visible`: one word for each path, and none that another holds already. */
#include "compiler/ir/visible.h"
#include "compiler/ir/text.h"
#include "compiler/passes/parts.h"

static bool is_same_path(const struct ir_visible *x, const struct ir_visible *y)
{
	return x->in_home == y->in_home && str_eq(x->path, y->path);
}

/* Two modes of one path would be whichever came last. */
static bool check_twice(struct pass_ctx *c, const ir_texts *list,
			const struct ir_text *t)
{
	struct ir_visible v = visible_of(t->s);

	for (const struct ir_text *o = list->v; o < t; o++) {
		struct ir_visible w = visible_of(o->s);

		if (!is_same_path(&v, &w))
			continue;
		diag_error(c->diags, DIAG_VISIBLE, t->from.at,
			   "'%s%s' is to be read, and to be written",
			   v.in_home ? "~" : "", diag_quote(c->diags, v.path));
		diag_note(c->diags, o->from.at, "here");
		diag_help(c->diags, "leave one of the two out");
		return false;
	}
	return true;
}

static int by_path(const void *va, const void *vb)
{
	const struct ir_text *a = va, *b = vb;
	struct ir_visible x = visible_of(a->s), y = visible_of(b->s);
	int c = str_cmp(x.path, y.path);

	if (x.in_home != y.in_home)
		return x.in_home ? 1 : -1;
	return c ? c : str_cmp(a->s, b->s);
}

/* Is it what the list has there without it? */
static bool is_held(const ir_texts *kept, const struct ir_text *t)
{
	struct ir_visible v = visible_of(t->s);

	return visible_at(kept, &v) == (v.write ? 2u : 1u);
}

/* A folder comes before what is in it: it is mounted first. */
bool visible_settle(struct pass_ctx *c, struct ir_policy *p)
{
	ir_texts list = ir_texts_sorted(c->a, &p->visible), kept = {0};
	bool ok = true;

	vec_sort(&list, by_path);
	vec_each(t, &list) {
		ok &= check_twice(c, &list, t);
		if (!is_held(&kept, t))
			*vec_push(c->a, &kept) = *t;
	}
	p->visible = kept;
	return ok;
}
