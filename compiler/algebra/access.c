#include "compiler/algebra/access.h"

#include "compiler/algebra/meet.h"
#include "compiler/base/buf.h"
#include "compiler/ir/ports.h"
#include "compiler/ir/text.h"

#include <stdlib.h>

/* What a text shows of a long list. */
#define SHOWN_PATHS 4

struct group {
	struct access_change change;
	uint32_t rule;
	int side;
	bool both;
	struct ir_dest dest; /* what all cells have in common of it */
	bool whole;	     /* no more than the rule's own */
	ir_ports ports;
	bool other, clear, tls;
	ir_texts methods, paths;
};

/* One slot per way, kind and both. */
#define SLOTS (3 * 3 * 2)

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
};

struct access *access_new(struct arena *a, struct sides *s,
			  struct comparison *out)
{
	struct access *x = arena_new_of(a, struct access);

	*x = (struct access){.a = a, .s = s, .out = out};
	x->slots = arena_array(a, (s->rules.n + 1) * (size_t)SLOTS,
			       sizeof(*x->slots));
	x->touched = arena_array(a, s->rules.n + 1, sizeof(*x->touched));
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
	uint32_t *slot = &x->slots[rule * (size_t)SLOTS + way * 6u +
				   c->kind * 2u + c->both];
	struct group *g;

	if (*slot)
		return &x->groups.v[*slot - 1];
	g = vec_push(x->a, &x->groups);
	*slot = x->groups.n;
	g->rule = rule;
	g->side = side;
	g->both = c->both;
	g->change = (struct access_change){
		.way = way,
		.kind = c->kind,
		.has_witness = true,
		.witness = cells_kept(x->a, &c->request),
		.why = origin(x, rule, side),
		.why_old = side == 0,
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
		g->dest = met;
		return;
	}
	if (meet_same(&g->dest, &met))
		return;
	g->dest = *own;
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

static bool is_below(struct str path, struct str prefix)
{
	if (str_ends(prefix, STR("/")))
		prefix.n--;
	return str_starts(path, prefix) &&
	       (path.n == prefix.n || path.p[prefix.n] == '/');
}

/* Prefixes come before what lies below them: paths.h. */
static void add_path(struct arena *a, ir_texts *to, struct str path)
{
	vec_each(t, to)
		if (is_below(path, t->s))
			return;
	*vec_push(a, to) = (struct ir_text){.s = arena_str(a, path)};
}

static void add_port(struct arena *a, struct group *g,
		     const struct access_cell *c)
{
	struct ir_port p = {.proto = c->kind == ACCESS_CONNECT
					     ? c->request.proto
					     : IR_PROTO_TCP,
			    .lo = c->lo,
			    .hi = c->hi};

	vec_each(had, &g->ports)
		if (had->proto == p.proto && had->lo <= p.lo && p.hi <= had->hi)
			return;
	*vec_push(a, &g->ports) = p;
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
	if (c->lo)
		add_port(x->a, g, c);
	if (c->kind != ACCESS_HTTP)
		return;
	if (c->other)
		g->other = true;
	else
		add_text(x->a, &g->methods, c->request.method);
	add_path(x->a, &g->paths, c->request.url.path);
	if (c->request.url.scheme == IR_SCHEME_HTTPS)
		g->tls = true;
	else
		g->clear = true;
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

static void put_methods(struct buf *b, struct group *g)
{
	if (g->other) {
		buf_adds(b, "* ");
		return;
	}
	sort_texts(&g->methods);
	vec_each(m, &g->methods)
		buf_addf(b, "%s%.*s", m == g->methods.v ? "" : ",",
			 STR_ARG(m->s));
	buf_addc(b, ' ');
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

static void put_paths(struct buf *b, struct group *g)
{
	sort_texts(&g->paths);
	for (uint32_t i = 0; i < g->paths.n && i < SHOWN_PATHS; i++)
		buf_addf(b, "%s%.*s", i ? " " : "", STR_ARG(g->paths.v[i].s));
	if (g->paths.n > SHOWN_PATHS)
		buf_addf(b, " and %u more", g->paths.n - SHOWN_PATHS);
}

/* As a URL where one port has one scheme; else as grants are written. */
static void put_http(struct access *x, struct buf *b, struct group *g)
{
	struct str host = host_text(x->a, &g->dest);
	bool one = g->ports.n == 1 && g->ports.v[0].lo == g->ports.v[0].hi;
	uint16_t port = g->ports.v[0].lo;

	put_methods(b, g);
	if (one && ((port == 443 && g->tls) || !g->clear)) {
		buf_addf(b, "https://%.*s", STR_ARG(host));
		if (port != 443)
			buf_addf(b, ":%u", port);
		put_paths(b, g);
		return;
	}
	if (one && ((port == 80 && g->clear) || !g->tls)) {
		buf_addf(b, "http://%.*s", STR_ARG(host));
		if (port != 80)
			buf_addf(b, ":%u", port);
		put_paths(b, g);
		return;
	}
	buf_addf(b, "%.*s %.*s ", STR_ARG(host),
		 STR_ARG(ir_ports_text(x->a, &g->ports)));
	put_paths(b, g);
	if (!g->clear || !g->tls)
		buf_adds(b, g->tls ? " over TLS" : " in the clear");
}

/* A name and an address: the one that the rule is about, the other in words. */
static const char *both_text(const struct group *g)
{
	const struct ir_request *r = &g->change.witness;

	if (ir_dest_net(&g->dest))
		return " under granted names";
	if (addr_scope(&r->addr) != ADDR_PUBLIC)
		return " at private addresses";
	return " at addresses that other rules are about";
}

static void put_group(struct access *x, struct group *g)
{
	struct buf b;

	ports_normalise(&g->ports);
	buf_init(&b, x->a);
	if (g->change.kind == ACCESS_HTTP) {
		put_http(x, &b, g);
	} else {
		if (g->ports.n)
			buf_addf(&b, "%.*s ",
				 STR_ARG(ir_ports_text(x->a, &g->ports)));
		buf_add(&b, host_text(x->a, &g->dest));
		if (g->both)
			buf_adds(&b, both_text(g));
	}
	g->change.text = buf_str(&b);
	*vec_push(x->a, &x->out->changes) = g->change;
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
