/*
 * compare.h, of connections, requests of HTTP and questions to the resolver.
 */
#include "compiler/algebra/compare/parts.h"

#include "compiler/algebra/space/endpoints.h"
#include "compiler/base/limits.h"

#include <string.h>

struct reach {
	struct sides *s;
	struct access *x;
	const struct endpoint *endpoint;
	bool keep; /* what is unchanged is wanted, too */
	/* By which steps access to the endpoint changed, and on which levels
	 * something of it did not. */
	bool steps[ACCESS_STEPS];
	bool here[ACCESS_STEPS]; /* the same, of the ports that are looked at */
	uint64_t work;		 /* pairs, those of many rules more than once */
};

static struct access_cell decided_cell(struct sides *s, enum access_kind kind,
				       const struct ir_request *r)
{
	struct access_cell c = {.kind = kind, .request = *r};

	c.by[0] = sides_ask(s, 0, r);
	c.by[1] = sides_ask(s, 1, r);
	return c;
}

/* Where all rules are shared, one answer is that of both. */
static struct access_cell decided_once(struct sides *s, enum access_kind kind,
				       const struct ir_request *r)
{
	struct access_cell c = {.kind = kind, .request = *r};

	c.by[0] = c.by[1] = sides_ask(s, 1, r);
	return c;
}

static void add_cell(struct reach *r, const struct access_cell *c,
		     const uint32_t *ids, uint32_t n)
{
	enum access_way way;

	if (!access_way_of(c, &way))
		return;
	r->steps[access_step(c)] = r->here[access_step(c)] = true;
	access_add(r->x, c, ids, n);
}

static void keep_cell(struct reach *r, const struct access_cell *c)
{
	if (!r->keep || !access_is_kept(c))
		return;
	r->steps[access_step(c)] = true;
	access_keep(r->x, c);
}

/* --- one destination ----------------------------------------------------- */

/* Requests on one port, until it is known what goes without saying. */
struct requests {
	struct reach *r;
	const struct cells_ports *ports;
	VEC(struct changed) changed;
	uint32_t all, alike; /* decided by the new policy as connections are */
	unsigned level;	     /* of those */
	bool same;	     /* the rules of both are */
	bool kept;	     /* connections are, which says it all */
	bool steps[ACCESS_STEPS]; /* of the destination, so far */
	/* CONNECT, where no rule names it. */
	VEC(struct changed) tunnels;
};

struct changed changed_of(struct arena *a, const struct access_cell *c,
			  const struct cells_http *h)
{
	uint32_t *ids = arena_array(a, h->n + 1, sizeof(*ids));

	if (h->n)
		memcpy(ids, h->ids, h->n * sizeof(*ids));
	return (struct changed){*c, ids, h->n};
}

static void visit_request(void *ctx, const struct cells_http *h)
{
	struct requests *q = ctx;
	struct access_cell c =
		q->same ? decided_once(q->r->s, ACCESS_HTTP, &h->request)
			: decided_cell(q->r->s, ACCESS_HTTP, &h->request);
	struct arena *a = q->r->s->scratch;
	enum access_way way;

	c.all = q->r->endpoint->ids;
	c.n_all = q->r->endpoint->n;
	c.lo = q->ports->lo;
	c.hi = q->ports->hi;
	c.other = h->other;
	c.tunnel = h->unnamed;
	if (h->unnamed) {
		if (access_way_of(&c, &way))
			*vec_push(a, &q->tunnels) = changed_of(a, &c, h);
		return;
	}
	q->all++;
	q->alike += access_level(&c.by[1].d) == q->level;
	if (!q->kept || access_level(&c.by[1].d) != q->level)
		keep_cell(q->r, &c);
	if (access_way_of(&c, &way))
		*vec_push(a, &q->changed) = changed_of(a, &c, h);
}

/*
 * Requests that were gained with the whole port, or lost with it, are not
 * mentioned apart.
 */
static void add_requests(struct requests *q, const struct access_cell *connect)
{
	enum access_way way;
	bool has_whole = access_way_of(connect, &way) && q->alike == q->all;

	vec_each(c, &q->changed)
		if (!has_whole || access_step(&c->cell) != access_step(connect))
			add_cell(q->r, &c->cell, c->ids, c->n);
}

/* Where nothing else of the destination changed like it. */
static void visit_crooked(void *ctx, const struct cells_http *h)
{
	struct requests *q = ctx;
	struct access_cell c = decided_cell(q->r->s, ACCESS_HTTP, &h->request);
	enum access_way way;

	if (!access_way_of(&c, &way) || q->steps[access_step(&c)])
		return;
	c.all = q->r->endpoint->ids;
	c.n_all = q->r->endpoint->n;
	c.lo = q->ports->lo;
	c.hi = q->ports->hi;
	c.other = h->other;
	c.crooked = true;
	/* The reasons leave other rules in the views. */
	*vec_push(q->r->s->scratch, &q->changed) =
		(struct changed){c, q->ports->ids, q->ports->n};
}

static void add_crooked(struct requests *q)
{
	struct reach *r = q->r;

	q->changed.n = 0;
	memcpy(q->steps, r->steps, sizeof(q->steps));
	cells_crooked(r->s, &r->endpoint->to, q->ports->shown, q->ports->ids,
		      q->ports->n, visit_crooked, q);
	vec_each(c, &q->changed)
		add_cell(r, &c->cell, c->ids, c->n);
}

/* Where nothing else on the ports changed like it: requests are read there by
 * one of the two alone. */
static void add_tunnels(struct requests *q)
{
	vec_each(c, &q->tunnels)
		if (!q->r->here[access_step(&c->cell)])
			access_add(q->r->x, &c->cell, c->ids, c->n);
	vec_each(c, &q->tunnels)
		q->r->steps[access_step(&c->cell)] = true;
}

/* Where datagrams changed the same way, it goes without saying. */
static void compare_quic(struct reach *r, const struct cells_ports *p,
			 const struct access_cell *connect)
{
	struct ir_request to = cells_quic(&r->endpoint->to, p->shown);
	struct access_cell c = decided_cell(r->s, ACCESS_QUIC, &to);
	enum access_way way;

	if (!access_way_of(&c, &way) || access_step(&c) == access_step(connect))
		return;
	c.all = r->endpoint->ids;
	c.n_all = r->endpoint->n;
	c.lo = p->lo;
	c.hi = p->hi;
	add_cell(r, &c, p->ids, p->n);
}

static void visit_ports(void *ctx, const struct cells_ports *p)
{
	struct reach *r = ctx;
	struct requests q = {.r = r, .ports = p};
	struct ir_request to =
		cells_connect(&r->endpoint->to, p->proto, p->shown);
	struct access_cell connect;

	q.same = sides_same(r->s, p->ids, p->n);
	if (q.same && !r->keep)
		return;
	memset(r->here, 0, sizeof(r->here));
	sides_put_all(r->s, p->ids, p->n);
	connect = q.same ? decided_once(r->s, ACCESS_CONNECT, &to)
			 : decided_cell(r->s, ACCESS_CONNECT, &to);
	connect.all = r->endpoint->ids;
	connect.n_all = r->endpoint->n;
	connect.lo = p->lo;
	connect.hi = p->hi;
	if (p->proto == IR_PROTO_UDP && !q.same)
		compare_quic(r, p, &connect);
	add_cell(r, &connect, p->ids, p->n);
	keep_cell(r, &connect);
	q.kept = access_is_kept(&connect);
	q.level = access_level(&connect.by[1].d);
	if (p->proto != IR_PROTO_TCP ||
	    (q.same && connect.by[1].d.verdict == VERDICT_ALLOW))
		return;
	if (cells_no_requests(r->s, &r->endpoint->to, p->ids, p->n)) {
		cells_tunnel(r->s, &r->endpoint->to, p->shown, p->ids, p->n,
			     visit_request, &q);
	} else {
		cells_http(r->s, &r->endpoint->to, p->shown, p->ids, p->n, NULL,
			   visit_request, &q);
		add_requests(&q, &connect);
		if (!q.same)
			add_crooked(&q);
	}
	add_tunnels(&q);
}

static void compare_question(struct reach *r, const struct endpoint *endpoint)
{
	struct ir_request question = cells_resolve(endpoint->to.name);
	struct access_cell c;
	enum access_way way;

	sides_put_all(r->s, endpoint->ids, endpoint->n);
	c = decided_cell(r->s, ACCESS_RESOLVE, &question);
	c.all = endpoint->ids;
	c.n_all = endpoint->n;
	if (r->steps[access_step(&c)])
		return;
	if (access_way_of(&c, &way))
		access_add(r->x, &c, endpoint->ids, endpoint->n);
	keep_cell(r, &c);
}

static void compare_endpoint(struct reach *r, const struct endpoint *endpoint)
{
	if (!r->keep && sides_same(r->s, endpoint->ids, endpoint->n))
		return;
	r->endpoint = endpoint;
	memset(r->steps, 0, sizeof(r->steps));
	cells_ports(r->s, endpoint->ids, endpoint->n, NULL, visit_ports, r);
	if (!endpoint->to.has_addr)
		compare_question(r, endpoint);
	sides_rest(r->s);
}

/* --- a name and an address ----------------------------------------------- */

struct pair {
	struct reach *r;
	const struct endpoint *name, *addr;
	uint32_t *ids, n;      /* rules that speak of either */
	bool by_name, by_addr; /* which of the two a change is due to */
};

/* By what rule of the new policy both together are permitted. */
static void keep_pair(struct pair *x, struct access_cell *c)
{
	enum access_due due;

	if (!x->r->keep || !access_is_kept(c))
		return;
	due = access_keep(x->r->x, c);
	x->by_name |= due == ACCESS_DUE_NAME;
	x->by_addr |= due == ACCESS_DUE_ADDR;
}

/* Name and address together, the name alone, the address alone. */
static void decide_pair(struct pair *x, const struct cells_ports *p, bool quic,
			struct access_cell out[3])
{
	struct target both = {x->name->to.name, true, x->addr->to.addr};
	const struct target *to[] = {&both, &x->name->to, &x->addr->to};

	sides_put_all(x->r->s, p->ids, p->n);
	for (int i = 0; i < 3; i++) {
		struct ir_request r =
			quic ? cells_quic(to[i], p->shown)
			     : cells_connect(to[i], p->proto, p->shown);

		out[i] = decided_cell(x->r->s,
				      quic ? ACCESS_QUIC : ACCESS_CONNECT, &r);
	}
	out[0].lo = p->lo;
	out[0].hi = p->hi;
	out[0].both = true;
	out[0].all = x->ids;
	out[0].n_all = x->n;
}

static bool goes_with(const struct access_cell *c,
		      const struct access_cell *whole)
{
	return access_step(c) == access_step(whole);
}

/* What changed with both together, and with neither alone. */
static void add_pair(struct pair *x, const struct cells_ports *p,
		     const struct access_cell c[3])
{
	struct sides *s = x->r->s;
	enum access_way way;
	uint32_t rule;
	int side;

	if (!access_way_of(&c[0], &way) || goes_with(&c[1], &c[0]) ||
	    goes_with(&c[2], &c[0]))
		return;
	rule = access_cause(s, &c[0], p->ids, p->n, &side);
	if (ir_dest_net(&rule_grant(&s->rules.v[rule])->dest))
		x->by_addr = true;
	else
		x->by_name = true;
	access_add(x->r->x, &c[0], p->ids, p->n);
}

static void visit_pair_ports(void *ctx, const struct cells_ports *p)
{
	struct pair *x = ctx;
	struct access_cell c[3], q[3];
	enum access_way way;

	if (sides_same(x->r->s, p->ids, p->n))
		return;
	decide_pair(x, p, false, c);
	if (!goes_with(&c[1], &c[0]) && !goes_with(&c[2], &c[0]))
		keep_pair(x, &c[0]);
	if (p->proto == IR_PROTO_UDP) {
		decide_pair(x, p, true, q);
		/* As datagrams did, of these or of one of the two. */
		if (access_way_of(&q[0], &way) && !goes_with(&c[0], &q[0]))
			add_pair(x, p, q);
	}
	add_pair(x, p, c);
}

static void compare_pair(struct pair *x, const struct endpoint *name,
			 const struct endpoint *addr)
{
	struct sides *s = x->r->s;
	uint32_t n, *ids = endpoints_rules(s, name, addr, &n);

	x->r->work += 1 + n / 8;
	x->name = name;
	x->addr = addr;
	x->ids = ids;
	x->n = n;
	if (!sides_same(s, ids, n))
		cells_ports(s, ids, n, NULL, visit_pair_ports, x);
	sides_rest(s);
}

static const struct endpoint *end_of_kind(const endpoint_list *l,
					  const struct endpoint *p)
{
	const struct endpoint *end = p;

	while (end < l->v + l->n && end->kind == p->kind)
		end++;
	return end;
}

/*
 * One of a kind with one of a kind; where they differ, the others too that
 * would be responsible.
 */
static void compare_kinds(struct reach *r, const struct endpoint *name,
			  const struct endpoint *name_end,
			  const struct endpoint *addr,
			  const struct endpoint *addr_end)
{
	struct pair first = {.r = r}, x = {.r = r};

	compare_pair(&first, name, addr);
	for (const struct endpoint *p = name + 1; first.by_name && p < name_end;
	     p++)
		compare_pair(&x, p, addr);
	for (const struct endpoint *p = addr + 1; first.by_addr && p < addr_end;
	     p++)
		compare_pair(&x, name, p);
}

static bool compare_pairs(struct reach *r, struct endpoints *all)
{
	const struct endpoint *n, *n_end, *k, *k_end;

	endpoints_sort(&all->names);
	endpoints_sort(&all->addrs);
	for (n = all->names.v; n < all->names.v + all->names.n; n = n_end) {
		n_end = end_of_kind(&all->names, n);
		for (k = all->addrs.v; k < all->addrs.v + all->addrs.n;
		     k = k_end) {
			k_end = end_of_kind(&all->addrs, k);
			if (r->work > LIMIT_PAIRS)
				return false;
			compare_kinds(r, n, n_end, k, k_end);
		}
	}
	return true;
}

bool reach_compare(struct arena *a, const struct ir_policy *old,
		   const struct ir_policy *now, struct comparison *out)
{
	struct sides s;
	struct endpoints all;
	struct reach r = {.s = &s, .keep = out->with_kept};
	bool complete;

	sides_init(&s, a, old, now);
	r.x = access_new(a, &s, out);
	endpoints_find(&s, NULL, false, &all);
	vec_each(endpoint, &all.names)
		compare_endpoint(&r, endpoint);
	vec_each(endpoint, &all.addrs)
		compare_endpoint(&r, endpoint);
	complete = all.complete && compare_pairs(&r, &all) &&
		   fronting_compare(&s, r.x, &all);
	access_finish(r.x);
	sides_done(&s);
	return complete;
}
