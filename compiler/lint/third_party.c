/*
 * Places where somebody else can read what an agent sends: which of those that
 * are known (policies/third-party.def) does a policy let it reach?
 *
 * By name, pattern, port, method and path, exactly; denials count. Grants by
 * address say nothing about names and reach none here.
 */
#include "compiler/lint/parts.h"

#include "compiler/algebra/compare/never.h"
#include "compiler/algebra/space/intersect.h"
#include "compiler/ir/http.h"

#include <stdlib.h>

/* --- which rows a grant may meet: those with the same last two labels ------
 */

struct entry {
	struct str tail;
	const struct third_party *row;
};

/* A denial by name. */
struct denial {
	struct str name, tail;
	const struct ir_grant *rule;
};

struct finder {
	struct arena *a;
	const struct ir_policy *p;
	ir_grants floor; /* its denials */
	VEC(struct denial) denials;
	struct entry index[THIRD_PARTIES]; /* sorted */
	third_party_hits *out;
};

static struct str tail_of(struct str name)
{
	unsigned dots = 0;

	for (size_t i = name.n; i > 0; i--)
		if (name.p[i - 1] == '.' && ++dots == 2)
			return str_slice(name, i, name.n);
	return name;
}

static bool is_wild(struct str name)
{
	return str_find(name, '*', 0) < name.n;
}

static int by_tail(const void *va, const void *vb)
{
	const struct entry *a = va, *b = vb;
	int c = str_cmp(a->tail, b->tail);

	if (c)
		return c;
	return a->row < b->row ? -1 : a->row > b->row;
}

static void make_index(struct finder *f)
{
	for (size_t i = 0; i < THIRD_PARTIES; i++)
		f->index[i] = (struct entry){tail_of(third_party_at(i)->dest), third_party_at(i)};
	qsort(f->index, THIRD_PARTIES, sizeof(f->index[0]), by_tail);
}

static void find_denials(struct finder *f)
{
	vec_each(d, &f->p->deny) {
		struct str name = ir_dest_name(&d->dest);

		if (d->from.layer == LAYER_FLOOR)
			*vec_push(f->a, &f->floor) = *d;
		else if (name.n)
			*vec_push(f->a, &f->denials) =
				(struct denial){name, tail_of(name), d};
	}
}

/* --- what of a row a grant permits -----------------------------------------
 */

static bool has_port(const struct ir_grant *g, uint16_t port)
{
	vec_each(p, &g->ports)
		if (p->proto == IR_PROTO_TCP && p->lo <= port && port <= p->hi)
			return true;
	return false;
}

static bool ports_meet(const struct ir_grant *g, const struct third_party *row)
{
	if (!row->any_port)
		return has_port(g, 443) || has_port(g, 80);
	vec_each(p, &g->ports)
		if (p->proto == IR_PROTO_TCP)
			return true;
	return false;
}

static bool method_in(struct str method, struct str list)
{
	struct str one;

	while (str_field(&list, ',', &one))
		if (str_eq(one, method))
			return true;
	return false;
}

static bool methods_meet(const struct ir_http *h, const struct third_party *row)
{
	if (h->any_method || row->methods[0] == '*')
		return true;
	vec_each(m, &h->methods)
		if (method_in(m->s, str_of(row->methods)))
			return true;
	return false;
}

/* Neither has a '/' at its end; the root is empty. */
static bool is_under(struct str path, struct str prefix)
{
	return str_starts(path, prefix) &&
	       (path.n == prefix.n || path.p[prefix.n] == '/');
}

static bool paths_meet(struct finder *f, const struct ir_grant *g,
		       const struct ir_http *h, const struct third_party *row)
{
	struct str prefix = row->path;
	ir_texts paths;

	if (http_any_path(&g->dest, h))
		return true;
	if (str_ends(prefix, STR("/")))
		prefix.n--;
	paths = http_paths(f->a, &g->dest, h);
	vec_each(p, &paths)
		if (is_under(p->s, prefix) || is_under(prefix, p->s))
			return true;
	return false;
}

static bool requests_meet(struct finder *f, const struct ir_grant *g,
			  const struct third_party *row)
{
	struct http_rules rules;

	if (!ir_grant_http(g))
		return true;
	rules = http_rules(f->a, g);
	for (uint32_t i = 0; i < rules.n; i++)
		if (methods_meet(&rules.v[i], row) &&
		    paths_meet(f, g, &rules.v[i], row))
			return true;
	return false;
}

/* --- denials ---------------------------------------------------------------
 */

/* The requests of a row, to those of its names that a grant is about. */
static struct ir_never set_of(struct finder *f, const struct third_party *row,
			      struct str name)
{
	struct ir_never set = {.kind = IR_NEVER_NET, .has_dest = true};
	struct str list = str_of(row->methods), one;

	set.dest.kind = is_wild(name) ? IR_DEST_PATTERN : IR_DEST_HOST;
	if (is_wild(name))
		set.dest.u.pattern.name = name;
	else
		set.dest.u.host.name = name;
	if (row->any_port) {
		*vec_push(f->a, &set.ports) =
			(struct ir_port){.lo = 1, .hi = 65535};
	} else {
		*vec_push(f->a, &set.ports) =
			(struct ir_port){.lo = 80, .hi = 80};
		*vec_push(f->a, &set.ports) =
			(struct ir_port){.lo = 443, .hi = 443};
	}
	while (row->methods[0] != '*' && str_field(&list, ',', &one))
		*vec_push(f->a, &set.methods) = (struct ir_text){.s = one};
	if (row->path.n > 1)
		*vec_push(f->a, &set.paths) = (struct ir_text){.s = row->path};
	return set;
}

/*
 * Whether denials leave nothing of a hit: asked of the grant with the denials
 * that are about its names, and only if there are any.
 */
static bool is_denied(struct finder *f, const struct ir_grant *g,
		      const struct third_party *row, struct str name)
{
	struct str tail = tail_of(name), both;
	bool wild = is_wild(tail), any = false;
	struct ir_policy one = *f->p;
	struct ir_request witness;
	struct decision decision;
	struct ir_never set;

	one.allow = (ir_grants){0};
	one.ask = (ir_grants){0};
	one.deny = (ir_grants){0};
	*vec_push(f->a, &one.allow) = *g;
	vec_each(d, &f->denials) {
		if (!wild && !is_wild(d->tail) && !str_eq(d->tail, tail))
			continue;
		if (!intersect_names(f->a, d->name, name, &both))
			continue;
		*vec_push(f->a, &one.deny) = *d->rule;
		any = true;
	}
	if (!any)
		return false;
	vec_each(d, &f->floor)
		*vec_push(f->a, &one.deny) = *d;
	set = set_of(f, row, name);
	return !never_find(f->a, &one, &set, &witness, &decision);
}

static void try_row(struct finder *f, const struct ir_grant *g,
		    const struct third_party *row)
{
	struct str name = ir_dest_name(&g->dest), both;

	if (row->shared && !is_wild(name))
		return;
	if (!intersect_names(f->a, row->dest, name, &both) ||
	    !ports_meet(g, row) || !requests_meet(f, g, row) ||
	    is_denied(f, g, row, both))
		return;
	*vec_push(f->a, f->out) = (struct third_party_hit){row, g, both};
}

static void try_grant(struct finder *f, const struct ir_grant *g)
{
	struct str name = ir_dest_name(&g->dest), tail = tail_of(name);
	struct entry key = {.tail = tail};
	size_t lo = 0, hi = THIRD_PARTIES;

	if (name.n == 0)
		return;
	if (is_wild(tail)) {
		for (size_t i = 0; i < THIRD_PARTIES; i++)
			try_row(f, g, third_party_at(i));
		return;
	}
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (by_tail(&f->index[mid], &key) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < THIRD_PARTIES && str_eq(f->index[lo].tail, tail); lo++)
		try_row(f, g, f->index[lo].row);
}

void third_party_reach(struct arena *a, const struct ir_policy *p,
		       third_party_hits *out)
{
	struct finder *f = arena_new_of(a, struct finder);

	f->a = a;
	f->p = p;
	f->out = out;
	make_index(f);
	find_denials(f);
	vec_each(g, &p->allow)
		try_grant(f, g);
}
