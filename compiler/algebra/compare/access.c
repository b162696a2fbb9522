#include "compiler/algebra/compare/access.h"

#include "compiler/algebra/compare/parts.h"
#include "compiler/algebra/space/intersect.h"
#include "compiler/ir/inspection.h"
#include "compiler/ir/ports.h"
#include "compiler/ir/text.h"

#include <stdlib.h>

/* Cells that are one change, found by two rules and the variant. */
struct group {
	uint32_t rules[2], variant;
	uint32_t next;	 /* of the bucket: index + 1 */
	uint32_t change; /* its index among the changes, or what is kept */
	bool kept;
	uint32_t cause; /* of a change: the rule */
};

/*
 * What refuses a request is looked for among all rules of its destination,
 * where these are few, and for the first changes where they are many; beyond,
 * among those that match it, and the reason may say less: "no-grant" for
 * "path".
 */
#define REASONS_FEW 64u
#define REASONS_MAX (1u << 15)

struct access {
	struct arena *a;
	uint64_t reasons; /* rules looked at for them */
	struct sides *s;
	struct comparison *out;
	VEC(struct group) groups;
	uint32_t *buckets; /* index of the first group + 1 */
	uint32_t mask;
	bool *touched; /* per rule */
};

struct access *access_new(struct arena *a, struct sides *s,
			  struct comparison *out)
{
	struct access *x = arena_new_of(a, struct access);

	*x = (struct access){.a = a, .s = s, .out = out};
	x->touched = arena_array(a, s->rules.n + 1, sizeof(*x->touched));
	for (x->mask = 63; x->mask < s->rules.n;)
		x->mask = x->mask * 2 + 1;
	x->buckets = arena_array(a, x->mask + 1, sizeof(*x->buckets));
	/* mostly there is one for each rule, or there are few */
	vec_reserve(a, &x->groups, s->rules.n);
	if (out->with_kept)
		vec_reserve(a, &out->kept, s->rules.n);
	else
		vec_reserve(a, &out->changes, s->rules.n);
	return x;
}

unsigned access_level(const struct decision *d)
{
	switch (d->verdict) {
	case VERDICT_DENY:
		return 0;
	case VERDICT_ASK:
		return 1 + d->grant->lasts.v;
	case VERDICT_ALLOW:
		return ACCESS_LEVELS - 1;
	}
	abort();
}

unsigned access_step(const struct access_cell *c)
{
	return access_level(&c->by[0].d) * ACCESS_LEVELS +
	       access_level(&c->by[1].d);
}

bool access_way_of(const struct access_cell *c, enum access_way *out)
{
	unsigned was = access_level(&c->by[0].d);
	unsigned is = access_level(&c->by[1].d);

	if (was == is)
		return false;
	*out = is > was ? ACCESS_GAINED : ACCESS_LOST;
	return true;
}

/* The side that has more; where both have the same, the old one. */
static int wider_side(const struct access_cell *c)
{
	return access_level(&c->by[1].d) > access_level(&c->by[0].d);
}

/* Decided as no other method is, and told apart from them. */
static bool is_connect(const struct access_cell *c)
{
	return str_is(c->request.method, "CONNECT");
}

/* --- causes -------------------------------------------------------------- */

/* Is it a rule that one side alone has? */
static bool is_own(const struct sides *s, uint32_t rule)
{
	return !rule_shared(&s->rules.v[rule]);
}

/* The same, of this side. */
static bool is_own_of(const struct rule *r, int side)
{
	return !r->g[!side];
}

/* A grant, or a denial, among those that one side alone has. */
static uint32_t own_rule(const struct sides *s, const uint32_t *ids, uint32_t n,
			 bool deny, int side)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct rule *r = &s->rules.v[ids[i]];

		if (r->deny == deny && !r->ask && is_own_of(r, side))
			return ids[i];
	}
	return SIDES_NONE;
}

/*
 * What '*' opens is looked into by one of the two alone: a rule that makes it
 * so, whomever it is about.
 */
static uint32_t looking_rule(const struct sides *s, int *out_side)
{
	*out_side = s->view[0].unseen ? 1 : 0;
	if (s->view[0].unseen == s->view[1].unseen)
		return SIDES_NONE;
	for (uint32_t i = 0; i < s->rules.n; i++) {
		const struct rule *r = &s->rules.v[i];

		if (is_own_of(r, *out_side) && !r->ask &&
		    (r->deny ? inspection_denies(r->g[*out_side])
			     : inspection_looks(s->p[*out_side],
						r->g[*out_side])))
			return i;
	}
	return SIDES_NONE;
}

/*
 * QUIC is refused for a denial that both sides have: then a rule about it makes
 * the difference, a denial of requests or a grant that does not tell names
 * apart.
 */
static uint32_t quic_rule(const struct sides *s, const uint32_t *ids,
			  uint32_t n, int side)
{
	uint32_t rule = own_rule(s, ids, n, true, side);

	return rule != SIDES_NONE ? rule : own_rule(s, ids, n, false, side);
}

/* For which the side alone reads requests over TLS. */
static uint32_t reading_rule(const struct sides *s, const uint32_t *ids,
			     uint32_t n, int side)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct rule *r = &s->rules.v[ids[i]];

		if (is_own_of(r, side) && !r->ask &&
		    inspection_opens(s->p[side], r->g[side]))
			return ids[i];
	}
	return SIDES_NONE;
}

/* A denial of the side alone for which it looks at what is on the port. */
static uint32_t looking_denial(const struct sides *s, uint16_t port, int side)
{
	for (uint32_t i = 0; i < s->rules.n; i++) {
		const struct rule *r = &s->rules.v[i];

		if (r->deny && is_own_of(r, side) &&
		    inspection_denies(r->g[side]) &&
		    ports_has(&r->g[side]->ports, IR_PROTO_TCP, port))
			return i;
	}
	return SIDES_NONE;
}

/* What the side alone has that decides neither, and yet makes the difference to
 * QUIC, or to CONNECT where no rule names it. */
static uint32_t cause_elsewhere(const struct sides *s,
				const struct access_cell *c,
				const uint32_t *ids, uint32_t n, int side)
{
	if (c->kind == ACCESS_QUIC)
		return quic_rule(s, ids, n, side);
	return c->tunnel ? reading_rule(s, ids, n, side) : SIDES_NONE;
}

/*
 * More is permitted by a new grant or for want of an old denial, less by a new
 * denial or for want of an old grant.
 */
uint32_t access_cause(struct sides *s, const struct access_cell *c,
		      const uint32_t *ids, uint32_t n, int *out_side)
{
	int more = wider_side(c);
	/* what permits, or asks, is a rule; what refuses may be none */
	uint32_t grant = c->by[more].rule, denial = c->by[!more].rule;
	bool held = denial != SIDES_NONE &&
		    (s->rules.v[denial].deny || s->rules.v[denial].ask);
	uint32_t rule;

	*out_side = more;
	if (more && is_own(s, grant))
		return grant;
	*out_side = !more;
	if (held && is_own(s, denial))
		return denial;
	*out_side = more;
	if (is_own(s, grant))
		return grant;
	*out_side = !more;
	rule = cause_elsewhere(s, c, ids, n, !more);
	if (rule != SIDES_NONE)
		return rule;
	*out_side = more;
	rule = own_rule(s, ids, n, false, more);
	if (rule != SIDES_NONE)
		return rule;
	*out_side = !more;
	rule = own_rule(s, ids, n, true, !more);
	if (rule != SIDES_NONE)
		return rule;
	if (is_connect(c)) {
		rule = looking_denial(s, c->request.url.port, !more);
		if (rule != SIDES_NONE)
			return rule;
	}
	rule = looking_rule(s, out_side);
	if (rule != SIDES_NONE)
		return rule;
	*out_side = more;
	return grant;
}

/* --- groups -------------------------------------------------------------- */

static struct ir_origin origin_of(const struct access *x, uint32_t rule,
				  int side)
{
	return x->s->rules.v[rule].g[side]->from;
}

/* The two decisions, as the whole policies make them; n rules did. */
static void give_reasons(struct access *x, const struct access_cell *c,
			 uint32_t n, struct access_change *out)
{
	uint64_t cost = c->n_all;

	out->was = c->by[0].d;
	out->is = c->by[1].d;
	/* Of a rule for requests, only what is about the path had a part. */
	if (c->kind != ACCESS_HTTP && n == c->n_all)
		return;
	if (cost > REASONS_FEW && x->reasons + cost > REASONS_MAX)
		return;
	for (uint32_t i = 0; i < c->n_all; i++)
		cost += rule_grant(&x->s->rules.v[c->all[i]])->http.n;
	if (cost > REASONS_FEW) {
		x->reasons += cost;
		if (x->reasons > REASONS_MAX)
			return;
	}
	sides_put_all(x->s, c->all, c->n_all);
	out->was = sides_ask(x->s, 0, &c->request).d;
	out->is = sides_ask(x->s, 1, &c->request).d;
}

/* Below it come those of the next step. */
#define VARIANTS 48u

static uint32_t variant_of(const struct access_cell *c, bool afar)
{
	uint32_t kind = c->tunnel	? ACCESS_RESOLVE + 2u
			: is_connect(c) ? ACCESS_RESOLVE + 1u
					: c->kind;

	return access_step(c) * VARIANTS + kind * 8u + afar * 4u +
	       c->crooked * 2u + c->both;
}

static struct group *group_of(struct access *x, const uint32_t rules[2],
			      uint32_t variant)
{
	uint64_t hash = (rules[0] * 31ull + rules[1]) * ACCESS_LEVELS *
				ACCESS_LEVELS * VARIANTS +
			variant;
	uint32_t *bucket =
		&x->buckets[(hash * 11400714819323198485u >> 32) & x->mask];
	struct group *g;

	for (uint32_t at = *bucket; at; at = g->next) {
		g = &x->groups.v[at - 1];
		if (g->rules[0] == rules[0] && g->rules[1] == rules[1] &&
		    g->variant == variant)
			return g;
	}
	g = vec_push(x->a, &x->groups);
	*g = (struct group){.rules = {rules[0], rules[1]},
			    .variant = variant,
			    .next = *bucket};
	*bucket = x->groups.n;
	return g;
}

static struct access_change *change_of(const struct access *x,
				       const struct group *g)
{
	return g->kept ? &x->out->kept.v[g->change]
		       : &x->out->changes.v[g->change];
}

/* The change of a group that is new. */
static struct access_change *begin_change(struct access *x, struct group *g,
					  const struct access_cell *c,
					  enum access_way way)
{
	struct access_change *k;

	g->kept = way == ACCESS_KEPT;
	g->change = g->kept ? x->out->kept.n : x->out->changes.n;
	k = g->kept ? vec_push(x->a, &x->out->kept)
		    : vec_push(x->a, &x->out->changes);
	*k = (struct access_change){
		.way = way,
		.kind = c->kind,
		.has_witness = true,
		.witness = cells_kept(x->a, &c->request),
		.set.both = c->both,
		.set.crooked = c->crooked,
		.set.connect = is_connect(c),
		.set.tunnel = c->tunnel,
	};
	k->witness.text = ir_request_text(x->a, &c->request);
	return k;
}

/* The part of the cause that the grant is about as well. */
static void narrow_group(struct access *x, struct group *g, bool is_new,
			 bool afar, const struct access_cell *c)
{
	const struct rule *rules = x->s->rules.v;
	uint32_t grant = c->by[wider_side(c)].rule;
	const struct ir_dest *own = &rule_grant(&rules[g->cause])->dest;
	struct access_set *set = &change_of(x, g)->set;
	struct ir_dest met = *own;

	/* A rule about others: the set is the grant's. */
	if (afar)
		own = &rule_grant(&rules[grant])->dest;
	if (afar || c->both || grant == g->cause ||
	    !intersect_dest(x->a, own, &rule_grant(&rules[grant])->dest, &met))
		met = *own;
	if (is_new) {
		set->dest = met;
		return;
	}
	if (!intersect_same(&set->dest, &met))
		set->dest = *own;
}

/* Both copy: what they are given may be of the scratch arena. */
static void add_text(struct arena *a, ir_texts *to, struct str s)
{
	vec_each(t, to)
		if (str_eq(t->s, s))
			return;
	*vec_push(a, to) = (struct ir_text){.s = arena_str(a, s)};
}

static void add_port(struct arena *a, ir_ports *to, const struct access_cell *c)
{
	/* of a request of HTTP, TCP */
	struct ir_port p = {.proto = c->request.proto,
			    .lo = c->lo,
			    .hi = c->hi};

	vec_each(had, to)
		if (had->proto == p.proto && had->lo <= p.lo && p.hi <= had->hi)
			return;
	*vec_push(a, to) = p;
}

/* Cells of one path come together. */
static struct access_http *http_at(struct arena *a, struct access_set *set,
				   struct str path)
{
	struct access_http *h;

	for (uint32_t i = set->http.n; i-- > 0;)
		if (str_eq(set->http.v[i].path, path))
			return &set->http.v[i];
	h = vec_push(a, &set->http);
	h->path = arena_str(a, path);
	return h;
}

static void add_cell(struct arena *a, struct access_set *set,
		     const struct access_cell *c)
{
	struct access_http *h;

	if (c->lo)
		add_port(a, &set->ports, c);
	if (c->kind != ACCESS_HTTP)
		return;
	h = http_at(a, set, c->crooked ? STR("/") : c->request.url.path);
	if (c->other)
		h->other = true;
	else
		add_text(a, &h->methods, c->request.method);
	if (c->request.url.scheme == IR_SCHEME_HTTPS)
		set->tls = true;
	else
		set->clear = true;
}

static bool is_among(const uint32_t *ids, uint32_t n, uint32_t rule)
{
	for (uint32_t i = 0; i < n; i++)
		if (ids[i] == rule)
			return true;
	return false;
}

void access_add(struct access *x, const struct access_cell *c,
		const uint32_t *ids, uint32_t n)
{
	enum access_way way;
	uint32_t rule, grant, had = x->groups.n;
	struct group *g;
	bool afar;
	int side;

	if (!access_way_of(c, &way))
		return;
	for (uint32_t i = 0; i < n; i++)
		x->touched[ids[i]] = true;
	rule = access_cause(x->s, c, ids, n, &side);
	grant = c->by[wider_side(c)].rule;
	afar = !is_among(ids, n, rule);
	/* A rule about others: one set for each grant that it is felt by. */
	g = group_of(x,
		     (uint32_t[]){afar ? grant : rule, SIDES_NONE},
		     variant_of(c, afar));
	if (x->groups.n > had) {
		struct access_change *k = begin_change(x, g, c, way);

		g->cause = rule;
		k->why = origin_of(x, rule, side);
		k->why_old = side == 0;
		give_reasons(x, c, n, k);
	}
	narrow_group(x, g, x->groups.n > had, afar, c);
	add_cell(x->a, &change_of(x, g)->set, c);
}

/* --- what is kept -------------------------------------------------------- */

bool access_is_kept(const struct access_cell *c)
{
	unsigned level = access_level(&c->by[0].d);

	return level && level == access_level(&c->by[1].d);
}

/*
 * The two rules that permit it: one that both policies have, where there is
 * one, since what permits it in one of them does in the other.
 */
static void find_keepers(const struct sides *s, const struct access_cell *c,
			 uint32_t out[2])
{
	for (int k = 0; k < 2; k++)
		out[k] = c->by[k].rule;
	for (int k = 0; k < 2; k++)
		if (rule_shared(&s->rules.v[out[k]])) {
			out[!k] = out[k];
			return;
		}
}

static bool is_net(const struct access *x, uint32_t rule)
{
	return ir_dest_net(&rule_grant(&x->s->rules.v[rule])->dest) != NULL;
}

/*
 * A name that one policy grants, at an address that the other does: true of
 * any two such, so all of them are one set.
 */
static bool crosses_cell(const struct access *x, const struct access_cell *c,
			 const uint32_t rules[2])
{
	return c->both && is_net(x, rules[0]) != is_net(x, rules[1]);
}

/* What both rules are about. */
static struct ir_dest kept_dest(struct access *x, const struct access_cell *c,
				const uint32_t rules[2])
{
	const struct rule *list = x->s->rules.v;
	const struct ir_dest *is = &rule_grant(&list[rules[1]])->dest;
	struct ir_dest met;

	if (crosses_cell(x, c, rules))
		return (struct ir_dest){.kind = IR_DEST_ANY};
	if (rules[0] == rules[1] ||
	    !intersect_dest(x->a, &rule_grant(&list[rules[0]])->dest, is, &met))
		return *is;
	return met;
}

enum access_due access_keep(struct access *x, const struct access_cell *c)
{
	uint32_t rules[2], had = x->groups.n;
	struct access_change *k;
	struct group *g;
	bool one;

	find_keepers(x->s, c, rules);
	one = crosses_cell(x, c, rules);
	g = group_of(x,
		     (uint32_t[]){one ? SIDES_NONE : rules[0],
				  one ? is_net(x, rules[1]) : rules[1]},
		     variant_of(c, false));
	if (x->groups.n > had) {
		k = begin_change(x, g, c, ACCESS_KEPT);
		k->was = c->by[0].d;
		k->is = c->by[1].d;
		k->was.grant = x->s->rules.v[rules[0]].g[0];
		k->is.grant = x->s->rules.v[rules[1]].g[1];
		k->why = origin_of(x, rules[1], 1);
		k->has_before = rules[0] != rules[1];
		k->before = origin_of(x, rules[0], 0);
		k->set.dest = kept_dest(x, c, rules);
	}
	add_cell(x->a, &change_of(x, g)->set, c);
	return one		     ? ACCESS_DUE_ALL
	       : is_net(x, rules[1]) ? ACCESS_DUE_ADDR
				     : ACCESS_DUE_NAME;
}

void access_finish(struct access *x)
{
	vec_each(g, &x->groups) {
		struct access_change *k = change_of(x, g);

		k->text = access_text(x->a, k);
	}
	for (uint32_t i = 0; i < x->s->rules.n; i++)
		if (!x->s->rules.v[i].deny && x->s->rules.v[i].g[1] &&
		    !x->touched[i])
			x->out->unchanged++;
}
