#include "compiler/algebra/access.h"

#include "compiler/algebra/meet.h"
#include "compiler/base/buf.h"
#include "compiler/ir/ports.h"
#include "compiler/ir/text.h"

#include <stdlib.h>

/* What a text shows of a long list. */
#define SHOWN_PATHS 4
#define SHOWN_LISTS 3

struct group {
	struct access_change change; /* its set: what all cells have */
	uint32_t rule;
	int side;
	bool whole; /* the set's destination is the rule's own */
	/* What is kept: the rule of the old policy, and the chain of a bucket.
	 */
	uint32_t was;
	uint32_t next; /* index + 1 */
};

/* One slot per way, kind and variant: both, crooked. */
#define SLOTS (3 * 3 * 4)

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
	uint32_t *slots; /* SLOTS per rule: index of the group + 1 */
	bool *touched;	 /* per rule */
	uint32_t *kept;	 /* buckets: index of the group + 1 */
	uint32_t mask;
};

struct access *access_new(struct arena *a, struct sides *s,
			  struct comparison *out)
{
	struct access *x = arena_new_of(a, struct access);

	*x = (struct access){.a = a, .s = s, .out = out};
	x->slots = arena_array(a, (s->rules.n + 1) * (size_t)SLOTS,
			       sizeof(*x->slots));
	x->touched = arena_array(a, s->rules.n + 1, sizeof(*x->touched));
	if (!out->with_kept)
		return x;
	for (x->mask = 63; x->mask < s->rules.n;)
		x->mask = x->mask * 2 + 1;
	x->kept = arena_array(a, x->mask + 1, sizeof(*x->kept));
	return x;
}

bool access_way_of(const struct access_cell *c, enum access_way *out)
{
	if (c->by[0].d.allow == c->by[1].d.allow)
		return false;
	*out = c->by[1].d.allow ? ACCESS_GAINED : ACCESS_LOST;
	return true;
}

/* --- causes -------------------------------------------------------------- */

/* Is it a rule that one side alone has? */
static bool is_own(const struct sides *s, uint32_t rule)
{
	return rule != SIDES_NONE && !rule_shared(&s->rules.v[rule]);
}

/* A rule among those that one side alone has, of the wanted kind. */
static uint32_t own_rule(const struct sides *s, const uint32_t *ids, uint32_t n,
			 bool deny, int side)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct rule *r = &s->rules.v[ids[i]];

		if (r->deny == deny && r->g[side] && !r->g[!side])
			return ids[i];
	}
	return SIDES_NONE;
}

/*
 * More is permitted by a new grant or for want of an old denial, less by a new
 * denial or for want of an old grant.
 */
uint32_t access_cause(struct sides *s, const struct access_cell *c,
		      const uint32_t *ids, uint32_t n, int *out_side)
{
	int more = c->by[1].d.allow; /* the side that permits */
	uint32_t grant = c->by[more].rule, denial = c->by[!more].rule;
	bool denied = denial != SIDES_NONE && s->rules.v[denial].deny;
	uint32_t rule;

	*out_side = more;
	if (more && is_own(s, grant))
		return grant;
	*out_side = !more;
	if (denied && is_own(s, denial))
		return denial;
	*out_side = more;
	if (is_own(s, grant))
		return grant;
	rule = own_rule(s, ids, n, false, more);
	if (rule != SIDES_NONE)
		return rule;
	*out_side = !more;
	rule = own_rule(s, ids, n, true, !more);
	if (rule != SIDES_NONE)
		return rule;
	*out_side = more;
	return grant;
}

/* --- groups -------------------------------------------------------------- */

static struct ir_origin origin(const struct access *x, uint32_t rule, int side)
{
	const struct rule *r = &x->s->rules.v[rule];

	return (r->g[side] ? r->g[side] : rule_grant(r))->from;
}

/* The two decisions, as the whole policies make them. */
static void give_reasons(struct access *x, const struct access_cell *c,
			 struct access_change *out)
{
	uint64_t cost = c->n_all;

	out->was = c->by[0].d;
	out->is = c->by[1].d;
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

static struct group *group_of(struct access *x, const struct access_cell *c,
			      enum access_way way, uint32_t rule, int side)
{
	uint32_t *slot = &x->slots[rule * (size_t)SLOTS + way * 12u +
				   c->kind * 4u + c->crooked * 2u + c->both];
	struct group *g;

	if (*slot)
		return &x->groups.v[*slot - 1];
	g = vec_push(x->a, &x->groups);
	*slot = x->groups.n;
	g->rule = rule;
	g->side = side;
	g->change = (struct access_change){
		.way = way,
		.kind = c->kind,
		.has_witness = true,
		.witness = cells_kept(x->a, &c->request),
		.why = origin(x, rule, side),
		.why_old = side == 0,
		.set.both = c->both,
		.set.crooked = c->crooked,
	};
	give_reasons(x, c, &g->change);
	g->change.witness.text = ir_request_text(x->a, &c->request);
	return g;
}

/* The part of the cause that the grant is about as well. */
static void narrow(struct access *x, struct group *g, bool is_new,
		   const struct access_cell *c)
{
	const struct rule *rules = x->s->rules.v;
	uint32_t grant = c->by[c->by[1].d.allow].rule;
	const struct ir_dest *own = &rule_grant(&rules[g->rule])->dest;
	struct ir_dest met = *own;

	if (g->whole)
		return;
	if (c->both || grant == g->rule || grant == SIDES_NONE ||
	    !meet_dest(x->a, own, &rule_grant(&rules[grant])->dest, &met))
		met = *own;
	if (is_new) {
		g->change.set.dest = met;
		return;
	}
	if (meet_same(&g->change.set.dest, &met))
		return;
	g->change.set.dest = *own;
	g->whole = true;
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
	struct ir_port p = {.proto = c->kind == ACCESS_CONNECT
					     ? c->request.proto
					     : IR_PROTO_TCP,
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

void access_add(struct access *x, const struct access_cell *c,
		const uint32_t *ids, uint32_t n)
{
	enum access_way way;
	uint32_t rule, had = x->groups.n;
	struct group *g;
	int side;

	if (!access_way_of(c, &way))
		return;
	for (uint32_t i = 0; i < n; i++)
		x->touched[ids[i]] = true;
	rule = access_cause(x->s, c, ids, n, &side);
	g = group_of(x, c, way, rule, side);
	narrow(x, g, x->groups.n > had, c);
	add_cell(x->a, &g->change.set, c);
}

/* --- what is kept -------------------------------------------------------- */

bool access_is_kept(const struct access_cell *c)
{
	return c->by[0].d.allow && c->by[1].d.allow;
}

/*
 * The two rules that permit it: one that both policies have, where there is
 * one, since what permits it in one of them does in the other.
 */
static void keepers(const struct sides *s, const struct access_cell *c,
		    uint32_t out[2])
{
	for (int k = 0; k < 2; k++)
		out[k] = c->by[k].rule;
	for (int k = 0; k < 2; k++)
		if (out[k] != SIDES_NONE && rule_shared(&s->rules.v[out[k]])) {
			out[!k] = out[k];
			return;
		}
}

static struct group *kept_group(struct access *x, const struct access_cell *c,
				const uint32_t rules[2])
{
	uint64_t hash =
		(rules[0] * 31ull + rules[1]) * 14u + c->kind * 2u + c->both;
	uint32_t *bucket =
		&x->kept[(hash * 11400714819323198485u >> 32) & x->mask];
	struct group *g;

	for (uint32_t at = *bucket; at; at = x->groups.v[at - 1].next) {
		g = &x->groups.v[at - 1];
		if (g->was == rules[0] && g->rule == rules[1] &&
		    g->change.kind == c->kind && g->change.set.both == c->both)
			return g;
	}
	g = vec_push(x->a, &x->groups);
	*g = (struct group){.was = rules[0],
			    .rule = rules[1],
			    .side = 1,
			    .next = *bucket,
			    .change.kind = c->kind,
			    .change.set.both = c->both};
	*bucket = x->groups.n;
	return g;
}

static bool is_net(const struct access *x, uint32_t rule)
{
	return ir_dest_net(&rule_grant(&x->s->rules.v[rule])->dest) != NULL;
}

/*
 * A name that one policy grants, at an address that the other does: true of
 * any two such, so all of them are one set.
 */
static bool crosses(const struct access *x, const struct access_cell *c,
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

	if (crosses(x, c, rules))
		return (struct ir_dest){.kind = IR_DEST_ANY};
	if (c->both || rules[0] == rules[1] ||
	    !meet_dest(x->a, &rule_grant(&list[rules[0]])->dest, is, &met))
		return *is;
	return met;
}

enum access_due access_keep(struct access *x, const struct access_cell *c)
{
	uint32_t rules[2], group[2], had = x->groups.n;
	bool one;
	struct access_change *k;

	keepers(x->s, c, rules);
	one = crosses(x, c, rules);
	group[0] = one ? SIDES_NONE : rules[0];
	group[1] = one ? is_net(x, rules[1]) : rules[1];
	k = &kept_group(x, c, group)->change;
	if (x->groups.n > had) {
		k->way = ACCESS_KEPT;
		k->has_witness = true;
		k->witness = cells_kept(x->a, &c->request);
		k->witness.text = ir_request_text(x->a, &c->request);
		k->was = c->by[0].d;
		k->is = c->by[1].d;
		k->was.grant = x->s->rules.v[rules[0]].g[0];
		k->is.grant = x->s->rules.v[rules[1]].g[1];
		k->why = origin(x, rules[1], 1);
		k->has_before = rules[0] != rules[1];
		k->before = origin(x, rules[0], 0);
		k->set.dest = kept_dest(x, c, rules);
	}
	add_cell(x->a, &k->set, c);
	return one		     ? ACCESS_DUE_ALL
	       : is_net(x, rules[1]) ? ACCESS_DUE_ADDR
				     : ACCESS_DUE_NAME;
}

/* --- texts --------------------------------------------------------------- */

static int by_text(const void *va, const void *vb)
{
	const struct ir_text *a = va, *b = vb;

	return str_cmp(a->s, b->s);
}

static void sort_texts(ir_texts *list)
{
	if (list->n)
		qsort(list->v, list->n, sizeof(*list->v), by_text);
}

static void put_methods(struct buf *b, const struct access_http *h)
{
	if (h->other) {
		buf_addc(b, '*');
		return;
	}
	vec_each(m, &h->methods)
		buf_addf(b, "%s%.*s", m == h->methods.v ? "" : ",",
			 STR_ARG(m->s));
}

/* Whom, without scheme and path. */
static struct str host_text(struct arena *a, const struct ir_dest *d)
{
	char text[ADDR_TEXT_MAX];
	struct str name = ir_dest_name(d);

	if (d->kind != IR_DEST_URL)
		return ir_dest_text(a, d);
	if (name.n)
		return name;
	addr_text(&d->u.url.net.addr, text);
	return arena_fmt(a, d->u.url.net.addr.family == ADDR_V6 ? "[%s]" : "%s",
			 text);
}

static bool is_below(struct str path, struct str prefix)
{
	if (str_ends(prefix, STR("/")))
		prefix.n--;
	return str_starts(path, prefix) &&
	       (path.n == prefix.n || path.p[prefix.n] == '/');
}

static bool same_methods(const struct access_http *x,
			 const struct access_http *y)
{
	if (x->other || y->other || x->methods.n != y->methods.n)
		return x->other && y->other;
	for (uint32_t i = 0; i < x->methods.n; i++)
		if (!str_eq(x->methods.v[i].s, y->methods.v[i].s))
			return false;
	return true;
}

/* Are all of its methods among the other's? */
static bool within(const struct access_http *x, const struct access_http *y)
{
	if (y->other)
		return true;
	vec_each(m, &x->methods) {
		bool has = false;

		vec_each(o, &y->methods)
			has |= str_eq(m->s, o->s);
		if (!has)
			return false;
	}
	return !x->other;
}

static int by_path(const void *va, const void *vb)
{
	const struct access_http *a = va, *b = vb;

	return str_cmp(a->path, b->path);
}

/* Sorted, without what lies below another one. */
static void tidy_http(struct access_set *set)
{
	uint32_t n = 0;

	vec_each(h, &set->http)
		sort_texts(&h->methods);
	qsort(set->http.v, set->http.n, sizeof(*set->http.v), by_path);
	vec_each(h, &set->http) {
		bool said = false;

		for (uint32_t i = 0; i < n && !said; i++)
			said = is_below(h->path, set->http.v[i].path) &&
			       within(h, &set->http.v[i]);
		if (!said)
			set->http.v[n++] = *h;
	}
	set->http.n = n;
}

/* All paths that have the methods of the one at first. */
static void put_paths(struct buf *b, const struct access_set *set,
		      uint32_t first)
{
	uint32_t n = 0;

	for (uint32_t i = first; i < set->http.n; i++) {
		if (!same_methods(&set->http.v[i], &set->http.v[first]))
			continue;
		if (n++ < SHOWN_PATHS)
			buf_addf(b, "%s%.*s", n > 1 ? " " : "",
				 STR_ARG(set->http.v[i].path));
	}
	if (n > SHOWN_PATHS)
		buf_addf(b, " and %u more", n - SHOWN_PATHS);
}

/* Is it the first with its methods? */
static bool leads(const struct access_set *set, uint32_t at)
{
	for (uint32_t i = 0; i < at; i++)
		if (same_methods(&set->http.v[i], &set->http.v[at]))
			return false;
	return true;
}

static void put_more(struct buf *b, const struct access_set *set)
{
	uint32_t lists = 1;

	for (uint32_t i = 1; i < set->http.n; i++) {
		if (!leads(set, i))
			continue;
		if (lists++ >= SHOWN_LISTS) {
			buf_adds(b, "; and more");
			return;
		}
		buf_adds(b, "; ");
		put_methods(b, &set->http.v[i]);
		buf_addc(b, ' ');
		put_paths(b, set, i);
	}
}

/* "https://a.test:8443", where one port has one scheme. */
static bool put_url(struct buf *b, const struct access_set *set,
		    struct str host)
{
	bool one =
		set->ports.n == 1 && set->ports.v[0].lo == set->ports.v[0].hi;
	uint16_t port = set->ports.n ? set->ports.v[0].lo : 0;
	const char *scheme = "https";
	uint16_t usual = 443;

	if (!one)
		return false;
	if (!(port == 443 && set->tls) && set->clear) {
		if (!(port == 80 && set->clear) && set->tls)
			return false;
		scheme = "http";
		usual = 80;
	}
	buf_addf(b, "%s://%.*s", scheme, STR_ARG(host));
	if (port != usual)
		buf_addf(b, ":%u", port);
	return true;
}

/* As a URL where it can be; else as grants are written. */
static void put_http(struct arena *a, struct buf *b, struct access_set *set)
{
	struct str host = host_text(a, &set->dest);

	tidy_http(set);
	put_methods(b, &set->http.v[0]);
	buf_addc(b, ' ');
	if (put_url(b, set, host)) {
		put_paths(b, set, 0);
		put_more(b, set);
		return;
	}
	buf_addf(b, "%.*s %.*s ", STR_ARG(host),
		 STR_ARG(ir_ports_text(a, &set->ports)));
	put_paths(b, set, 0);
	put_more(b, set);
	if (!set->clear || !set->tls)
		buf_adds(b, set->tls ? " over TLS" : " in the clear");
}

/* A name and an address: the one that the rule is about, the other in words. */
static const char *both_text(const struct access_change *c)
{
	const struct ir_request *r = &c->witness;

	if (c->set.dest.kind == IR_DEST_ANY && c->has_before)
		return ir_dest_net(&c->is.grant->dest)
			       ? " (addresses granted now, under names that "
				 "were)"
			       : " (names granted now, at addresses that "
				 "were)";
	if (ir_dest_net(&c->set.dest))
		return " under granted names";
	if (addr_scope(&r->addr) != ADDR_PUBLIC)
		return " at private addresses";
	return " at addresses that other rules are about";
}

static void put_group(struct access *x, struct group *g)
{
	struct access_change *c = &g->change;
	struct access_set *set = &c->set;
	struct buf b;

	ports_normalise(&set->ports);
	buf_init(&b, x->a);
	if (c->kind == ACCESS_HTTP) {
		put_http(x->a, &b, set);
	} else {
		if (set->ports.n)
			buf_addf(&b, "%.*s ",
				 STR_ARG(ir_ports_text(x->a, &set->ports)));
		buf_add(&b, host_text(x->a, &set->dest));
	}
	if (set->crooked)
		buf_adds(&b, " (paths that are not canonical)");
	if (set->both)
		buf_adds(&b, both_text(c));
	c->text = buf_str(&b);
	if (c->way == ACCESS_KEPT)
		*vec_push(x->a, &x->out->kept) = *c;
	else
		*vec_push(x->a, &x->out->changes) = *c;
}

void access_finish(struct access *x)
{
	vec_each(g, &x->groups)
		put_group(x, g);
	for (uint32_t i = 0; i < x->s->rules.n; i++)
		if (!x->s->rules.v[i].deny && x->s->rules.v[i].g[1] &&
		    !x->touched[i])
			x->out->unchanged++;
}
