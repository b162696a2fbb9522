#include "compiler/cli/trust/contribution.h"

#include "compiler/algebra/compare/compare.h"
#include "compiler/algebra/space/intersect.h"
#include "compiler/ir/text.h"

/* Another way of writing the texts down, or of meaning them, needs another
 * number. */
#define HEAD "membrane contribution 2"

/* No text of a policy holds a NUL, and none is empty. */
static void put_texts(struct buf *b, const ir_texts *texts)
{
	vec_each(t, texts) {
		buf_add(b, t->s);
		buf_addc(b, '\0');
	}
	buf_addc(b, '\0');
}

void contribution_digest(struct arena *a, const ir_texts *adds,
			 const ir_texts *cuts, char out[SHA256_HEX_MAX])
{
	struct buf b;

	buf_init(&b, a);
	buf_adds(&b, HEAD);
	buf_addc(&b, '\0');
	put_texts(&b, adds);
	put_texts(&b, cuts);
	sha256_hex(buf_str(&b), out);
}

/* --- access -------------------------------------------------------------- */

/* Something with a place, by its number in a list. */
struct endpoint {
	struct ir_origin from;
	uint32_t i;
};
typedef VEC(struct endpoint) endpoints;

struct work {
	struct compilation *c;
	struct contribution *out;
	addition_list found;
	bool compared; /* diff says what the workspace changes */
	struct comparison diff;
	endpoints gains, adds; /* of diff.changes and of found, by place */
	bool unknown[2];       /* but not of requests [0], of files [1] */
	VEC(const struct ir_grant *) granted; /* those that are added */
};

static bool is_file(enum access_kind kind)
{
	return kind == ACCESS_READ || kind == ACCESS_WRITE;
}

/* The user's own policy, and the workspace's part or not; no flags. */
static void own_docs(struct work *w, bool with_workspace, docs *out)
{
	vec_each(d, &w->c->docs)
		if (d->layer != LAYER_FLAGS &&
		    (with_workspace || d->layer != LAYER_WORKSPACE))
			*vec_push(w->c->a, out) = *d;
}

/* False when the part is no whole policy, as one that flags complete. */
static bool compile_docs(struct work *w, const docs *list,
			 struct ir_policy *out)
{
	struct pass_ctx ctx = driver_ctx(w->c);
	struct diags quiet;

	diags_init(&quiet, w->c->a, &w->c->sources);
	ctx.diags = &quiet;
	return passes_layers(&ctx, list, out) && passes_normalise(&ctx, out);
}

static void compare_docs(struct work *w, const docs *with)
{
	struct ir_policy *old = arena_new_of(w->c->a, struct ir_policy);
	struct ir_policy *now = &w->c->policy;
	docs without = {0};

	own_docs(w, false, &without);
	if (without.n == with->n)
		return; /* the workspace says nothing */
	/* there are flags, or it says that it was written elsewhere */
	if (with->n < w->c->docs.n || w->c->origins.n) {
		now = arena_new_of(w->c->a, struct ir_policy);
		if (!compile_docs(w, with, now))
			return;
	}
	if (!compile_docs(w, &without, old))
		return;
	compare_policies(w->c->a, old, now, &w->diff);
	w->compared = true;
	/* What could not be compared names no rule. */
	vec_each(x, &w->diff.changes)
		if (x->way != ACCESS_LOST && x->why.at.beg == 0)
			w->unknown[is_file(x->kind)] = true;
}

static bool same_place(struct ir_origin a, struct ir_origin b)
{
	return a.at.beg == b.at.beg && a.at.end == b.at.end;
}

static int by_place(const void *va, const void *vb)
{
	const struct endpoint *a = va, *b = vb;

	if (a->from.at.beg != b->from.at.beg)
		return a->from.at.beg < b->from.at.beg ? -1 : 1;
	if (a->from.at.end != b->from.at.end)
		return a->from.at.end < b->from.at.end ? -1 : 1;
	return a->i < b->i ? -1 : a->i > b->i;
}

/* Ten thousand additions are looked up among as many changes. */
static void sort_places(struct work *w)
{
	struct arena *a = w->c->a;

	vec_reserve(a, &w->gains, w->diff.changes.n);
	vec_reserve(a, &w->adds, w->found.n);
	for (uint32_t i = 0; i < w->diff.changes.n; i++) {
		const struct access_change *g = &w->diff.changes.v[i];

		if (g->way != ACCESS_LOST && !g->why_old)
			*vec_push(a, &w->gains) = (struct endpoint){g->why, i};
	}
	for (uint32_t i = 0; i < w->found.n; i++)
		*vec_push(a, &w->adds) =
			(struct endpoint){w->found.v[i].from, i};
	vec_sort(&w->gains, by_place);
	vec_sort(&w->adds, by_place);
}

/* The first at that place, or NULL. */
static const struct endpoint *first_at(const endpoints *list,
				       struct ir_origin from)
{
	struct endpoint key = {from, 0};
	uint32_t lo = 0, hi = list->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (by_place(&list->v[mid], &key) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < list->n && same_place(list->v[lo].from, from) ? &list->v[lo]
								  : NULL;
}

/* The first thing gained that this text is responsible for. */
static const struct access_change *gain_of(const struct work *w,
					   const struct addition *x)
{
	const struct endpoint *s = first_at(&w->gains, x->from);

	return s ? &w->diff.changes.v[s->i] : NULL;
}

/* Several options may stand in one word: any of them. */
static bool is_widening(const struct work *w, struct ir_origin from)
{
	vec_each(arg, &w->c->policy.docker_args)
		if (same_place(arg->from, from) && arg->class >= ARG_WIDENING)
			return true;
	return false;
}

static void put_addition(struct work *w, struct ir_origin from, struct str text,
			 const struct access_change *g)
{
	struct arena *a = w->c->a;
	struct contribution_note *note;

	*vec_push(a, &w->out->adds) = (struct ir_text){from, text};
	note = vec_push(a, &w->out->notes);
	*note = (struct contribution_note){.widens = is_widening(w, from)};
	if (!g || !g->has_witness || g->kind == ACCESS_ARG)
		return;
	note->witness = g->witness.text;
	note->was = g->was;
	note->is = g->is;
}

/* Whether diff knows all that it does. */
static bool is_decided(const struct work *w, const struct addition *x)
{
	return x->is_plain && w->compared &&
	       !w->unknown[x->part == ADDITION_PATTERN];
}

/* Access that the texts do not explain: there should be none. */
static void put_rest(struct work *w)
{
	vec_each(g, &w->diff.changes) {
		bool told = g->way == ACCESS_LOST || g->why.at.beg == 0 ||
			    (!g->why_old && first_at(&w->adds, g->why));

		if (!told)
			put_addition(w, g->why,
				     arena_fmt(w->c->a, "access %.*s",
					       STR_ARG(g->text)),
				     g);
	}
}

/* --- what cuts into it --------------------------------------------------- */

/* Beyond so many pairs each denial counts: that only asks more. */
#define PAIRS_MAX (1u << 20)

/* On whichever protocol: what denies requests refuses QUIC, too. */
static bool ports_meet(const ir_ports *x, const ir_ports *y)
{
	vec_each(p, x)
		vec_each(q, y)
			if (p->lo <= q->hi && q->lo <= p->hi)
				return true;
	return false;
}

/* Can the denial take anything from the grant? A name may lead anywhere. */
static bool meets_grant(struct arena *a, const struct ir_grant *deny,
			const struct ir_grant *g)
{
	bool net = ir_dest_net(&deny->dest) != NULL;
	struct ir_dest met;

	if (!ports_meet(&deny->ports, &g->ports))
		return false;
	return net != (ir_dest_net(&g->dest) != NULL) ||
	       intersect_dest(a, &deny->dest, &g->dest, &met);
}

/* Whether whatever is denied may cut into it. */
static bool is_all_cut(const struct work *w, uint32_t denials)
{
	vec_each(x, &w->found)
		if (x->part == ADDITION_CREDENTIAL)
			return true;
	vec_each(t, &w->out->adds)
		if (str_starts(t->s, STR("access ")))
			return true;
	return (uint64_t)w->granted.n * denials > PAIRS_MAX;
}

static bool cuts_into(const struct work *w, const struct addition *x)
{
	if (!x->grant)
		return true;
	vec_each(g, &w->granted)
		if (meets_grant(w->c->a, x->grant, *g))
			return true;
	return false;
}

static void find_cuts(struct work *w, struct pass_ctx *ctx, const docs *with)
{
	addition_list found = {0};
	bool all;

	if (w->out->adds.n == 0)
		return;
	passes_cuts(ctx, with, &found);
	all = is_all_cut(w, found.n);
	vec_each(x, &found)
		if (all || cuts_into(w, x))
			*vec_push(w->c->a, &w->out->cuts) =
				(struct ir_text){x->from, x->text};
}

void contribution_make(struct compilation *c, struct contribution *out)
{
	struct pass_ctx ctx = driver_ctx(c);
	struct work w = {.c = c, .out = out};
	docs with = {0};

	*out = (struct contribution){0};
	own_docs(&w, true, &with);
	passes_additions(&ctx, &with, &w.found);
	compare_docs(&w, &with);
	sort_places(&w);
	vec_reserve(c->a, &out->adds, w.found.n);
	vec_reserve(c->a, &out->notes, w.found.n);
	vec_each(x, &w.found) {
		const struct access_change *g = gain_of(&w, x);

		if (!g && is_decided(&w, x))
			continue;
		put_addition(&w, x->from, x->text, g);
		if (x->grant)
			*vec_push(c->a, &w.granted) = x->grant;
	}
	put_rest(&w);
	find_cuts(&w, &ctx, &with);
	contribution_digest(c->a, &out->adds, &out->cuts, out->digest);
}
