/*
 * compare.h, of what `tls` says of single grants: which destinations are
 * decrypted though no rule of theirs needs it.
 */
#include "compiler/algebra/compare/parts.h"

/* A destination without http rules, and whether its TLS is looked into. */
struct seen {
	struct str dest;
	bool inspected, explicit;
	struct ir_origin from;
};
typedef VEC(struct seen) seen_list;

static int by_dest(const void *va, const void *vb)
{
	const struct seen *a = va, *b = vb;

	return str_cmp(a->dest, b->dest);
}

/* One per destination: inspected when one of its grants says so. */
static void join_seen(seen_list *l)
{
	uint32_t n = 0;

	if (l->n == 0)
		return;
	vec_sort(l, by_dest);
	for (uint32_t i = 1; i < l->n; i++) {
		struct seen *last = &l->v[n], *s = &l->v[i];

		if (!str_eq(last->dest, s->dest)) {
			l->v[++n] = *s;
			continue;
		}
		if (s->inspected && !last->inspected)
			last->from = s->from;
		last->inspected |= s->inspected;
		last->explicit |= s->explicit;
	}
	l->n = n + 1;
}

static seen_list seen_of(struct arena *a, const struct ir_policy *p)
{
	seen_list out = {0};

	vec_each(g, &p->allow) {
		enum ir_tls tls = g->tls.set ? g->tls.v : p->tls.v;

		if (ir_grant_http(g) || ir_dest_net(&g->dest))
			continue;
		*vec_push(a, &out) = (struct seen){
			ir_dest_text(a, &g->dest), tls == IR_TLS_INSPECT,
			g->tls.set, g->tls.set ? g->tls.from : g->from};
	}
	join_seen(&out);
	return out;
}

/* Without a word of either grant it is the policy's tls that changed. */
static void compare_one(struct arena *a, const struct seen *was,
			const struct seen *is, struct comparison *out)
{
	if (was->inspected == is->inspected) {
		if (out->with_kept && is->explicit)
			*vec_push(a, &out->kept) = (struct access_change){
				.way = ACCESS_KEPT,
				.kind = ACCESS_SETTING,
				.text = arena_fmt(
					a, "tls of %.*s %s", STR_ARG(is->dest),
					is->inspected ? "inspect" : "verify"),
				.why = is->from,
			};
		return;
	}
	if (!was->explicit && !is->explicit)
		return;
	*vec_push(a, &out->changes) = (struct access_change){
		.way = is->inspected ? ACCESS_LOST : ACCESS_GAINED,
		.kind = ACCESS_SETTING,
		.text = arena_fmt(a, "tls of %.*s %s -> %s", STR_ARG(is->dest),
				  was->inspected ? "inspect" : "verify",
				  is->inspected ? "inspect" : "verify"),
		.why = is->explicit ? is->from : was->from,
		.why_old = !is->explicit,
	};
}

void inspect_compare(struct arena *a, const struct ir_policy *old,
		     const struct ir_policy *now, struct comparison *out)
{
	seen_list was = seen_of(a, old), is = seen_of(a, now);
	uint32_t i = 0, k = 0;

	while (i < was.n && k < is.n) {
		int c = str_cmp(was.v[i].dest, is.v[k].dest);

		if (c == 0)
			compare_one(a, &was.v[i], &is.v[k], out);
		i += c <= 0;
		k += c >= 0;
	}
}
