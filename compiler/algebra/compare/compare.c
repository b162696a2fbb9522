#include "compiler/algebra/compare/compare.h"

#include "compiler/algebra/compare/parts.h"
#include "compiler/algebra/compare/witness.h"
#include "compiler/ir/text.h"

#include <stdio.h>
#include <stdlib.h>

static int by_text(const void *va, const void *vb)
{
	const struct access_change *a = va, *b = vb;
	int by;

	if (a->way != b->way)
		return (int)a->way - (int)b->way;
	if (a->kind != b->kind)
		return (int)a->kind - (int)b->kind;
	if (a->set.both != b->set.both)
		return (int)a->set.both - (int)b->set.both;
	by = str_cmp(a->text, b->text);
	if (by)
		return by;
	by = (int)access_level(&a->was) - (int)access_level(&b->was);
	return by ? by
		  : (int)access_level(&a->is) - (int)access_level(&b->is);
}

static bool same_grants(const ir_grants *x, const ir_grants *y)
{
	if (x->n != y->n)
		return false;
	for (uint32_t i = 0; i < x->n; i++)
		if (!str_eq(x->v[i].canon, y->v[i].canon))
			return false;
	return true;
}

/* Fail closed: what was not looked at may have been widened. */
static void add_unknown(struct arena *a, struct comparison *out,
			enum access_kind kind, const char *text)
{
	*vec_push(a, &out->changes) = (struct access_change){
		.way = ACCESS_OTHER, .kind = kind, .text = str_of(text)};
}

/* A request that does not show what it is to show is never printed. */
static void want_witnesses(const struct ir_policy *old,
			   const struct ir_policy *now,
			   const struct comparison *out)
{
	const struct access_change *c = witness_refuted(old, now, out);

	if (!c)
		return;
	fputs("membrane: bug: two parts of it disagree on a request: ", stderr);
	for (size_t i = 0; i < c->witness.text.n; i++) {
		char byte = c->witness.text.p[i];

		fputc(byte >= ' ' && byte <= '~' ? byte : '?', stderr);
	}
	fputs("\n  nothing is said of these two policies; please report both\n",
	      stderr);
	exit(4);
}

static void compare_parts(struct arena *a, const struct ir_policy *old,
			  const struct ir_policy *now, struct comparison *out)
{
	if (!reach_compare(a, old, now, out))
		add_unknown(
			a, out, ACCESS_CONNECT,
			"more combinations of names and networks than can be compared");
	files_compare(a, old, now, out);
	raw_args_compare(a, old, now, out);
	settings_compare(a, old, now, out);
	inspect_compare(a, old, now, out);
	vec_sort(&out->changes, by_text);
	vec_sort(&out->kept, by_text);
	want_witnesses(old, now, out);
	out->same_text = out->changes.n == 0 &&
			 same_grants(&old->allow, &now->allow) &&
			 same_grants(&old->ask, &now->ask) &&
			 same_grants(&old->deny, &now->deny) &&
			 files_same_patterns(&old->ignore, &now->ignore) &&
			 files_same_patterns(&old->readonly, &now->readonly) &&
			 ir_texts_same(&old->args, &now->args);
}

void compare_policies(struct arena *a, const struct ir_policy *old,
		      const struct ir_policy *now, struct comparison *out)
{
	*out = (struct comparison){.with_kept = false};
	compare_parts(a, old, now, out);
}

void compare_whole(struct arena *a, const struct ir_policy *old,
		   const struct ir_policy *now, struct comparison *out)
{
	*out = (struct comparison){.with_kept = true};
	compare_parts(a, old, now, out);
}

bool compare_widens(const struct comparison *c)
{
	vec_each(x, &c->changes)
		if (x->way != ACCESS_LOST)
			return true;
	return false;
}

bool compare_equal(const struct comparison *c)
{
	return c->changes.n == 0;
}
