/*
 * compare.h, of requests of HTTP that go to an address under a name: where the
 * name leads, or where the client says it and the session did not resolve it.
 *
 * What follows from a request to the name alone, to the address alone, or from
 * a connection is left to reach.h. That is all of them but these: where a
 * denial speaks of either, where a name may lead to an address that is not
 * public, and where rules are about one scheme at an address.
 */
#include "compiler/algebra/compare/parts.h"

#include "compiler/algebra/space/effects.h"
#include "compiler/algebra/space/numbers.h"
#include "compiler/base/limits.h"
#include "compiler/ir/text.h"

#include <string.h>

/* A name or an address, and what rules of its own there are. */
struct front {
	const struct endpoint *endpoint;
	uint32_t *key, n_key; /* two are alike when their keys are */
	bool rules, http, deny, private;
	bool connect; /* a rule names the method */
	bool same;    /* both policies have all that speak of it */
};
typedef VEC(struct front) front_list;

struct fronts {
	struct sides *s;
	struct access *x;
	uint32_t *effect; /* per rule: what it does, whomever it is about */
	bool http;	  /* rules of '*' are about requests */
	uint64_t work;
	/* The pair that is looked at. */
	const struct front *name, *addr;
	uint32_t *ids, n;
	bool by_name, by_addr; /* which of the two a change is due to */
};

/* --- what is alike ------------------------------------------------------- */

static void take_rule(struct front *p, const struct rule *r)
{
	const struct ir_grant *g = rule_grant(r);

	p->rules = true;
	p->http |= ir_grant_http(g);
	p->deny |= r->deny;
	p->private |= !r->deny && g->private.v;
	p->connect |= rule_connect(r);
}

/* What connections tell apart, and then the effects of its rules. */
static struct front front_of(struct fronts *f, const struct endpoint *endpoint)
{
	struct arena *a = f->s->a;
	struct front out = {.endpoint = endpoint};
	uint32_t beg;

	out.key = arena_array(a, endpoint->n_key + endpoint->n + 2,
			      sizeof(*out.key));
	out.key[out.n_key++] = endpoint->n_key;
	for (uint32_t i = 0; i < endpoint->n_key; i++)
		out.key[out.n_key++] = endpoint->key[i];
	beg = out.n_key;
	for (uint32_t i = 0; i < endpoint->n; i++) {
		const struct rule *r = &f->s->rules.v[endpoint->ids[i]];
		const struct ir_grant *g = rule_grant(r);

		if (g->dest.kind == IR_DEST_ANY)
			out.private |= g->private.v;
		else if (g->from.layer != LAYER_FLOOR)
			take_rule(&out, r);
		out.key[out.n_key++] = f->effect[endpoint->ids[i]];
	}
	numbers_sort(out.key + beg, out.n_key - beg);
	out.same = sides_same(f->s, endpoint->ids, endpoint->n);
	return out;
}

static int by_key(const void *va, const void *vb)
{
	const struct front *a = va, *b = vb;

	if (a->n_key != b->n_key)
		return a->n_key < b->n_key ? -1 : 1;
	return memcmp(a->key, b->key, a->n_key * sizeof(*a->key));
}

static int by_key_and_place(const void *va, const void *vb)
{
	const struct front *a = va, *b = vb;
	int c = by_key(a, b);

	return c ? c : endpoints_by_place(a->endpoint, b->endpoint);
}

static front_list fronting_of(struct fronts *f, const endpoint_list *endpoints)
{
	front_list out = {0};

	vec_each(endpoint, endpoints) {
		struct front p = front_of(f, endpoint);

		/* Of a public address that nothing is about, names decide. */
		if (endpoint->to.has_addr && !p.rules &&
		    endpoint->scope == ADDR_PUBLIC)
			continue;
		*vec_push(f->s->a, &out) = p;
	}
	vec_sort(&out, by_key_and_place);
	return out;
}

/* --- one pair ------------------------------------------------------------ */

struct requests {
	struct fronts *f;
	const struct cells_ports *ports;
	unsigned step; /* of connections */
	VEC(struct changed) changed;
};

static struct access_cell decided_cell(struct fronts *f, enum access_kind kind,
				       const struct ir_request *r)
{
	struct access_cell c = {.kind = kind, .request = *r, .both = true};

	c.by[0] = sides_ask(f->s, 0, r);
	c.by[1] = sides_ask(f->s, 1, r);
	c.all = f->ids;
	c.n_all = f->n;
	return c;
}

/* Did the same to the name alone, or to the address alone, change so? */
static bool follows_http(struct requests *q, const struct ir_request *r,
			 unsigned step)
{
	struct ir_request name = *r, addr = *r;
	struct access_cell c;

	if (q->step == step)
		return true;
	name.has_addr = addr.has_addr = false;
	c = decided_cell(q->f, ACCESS_HTTP, &name);
	if (access_step(&c) == step)
		return true;
	addr.url.who = IR_DEST_CIDR;
	addr.url.net = (struct cidr){r->addr, addr_bits(r->addr.family)};
	c = decided_cell(q->f, ACCESS_HTTP, &addr);
	return access_step(&c) == step;
}

static void visit_request(void *ctx, const struct cells_http *h)
{
	struct requests *q = ctx;
	struct arena *a = q->f->s->scratch;

	for (int unresolved = 0; unresolved < 2; unresolved++) {
		struct ir_request r = h->request;
		struct access_cell c;
		enum access_way way;

		/* Where no rule is about the address, that is not asked. */
		if (unresolved && str_is(r.method, "CONNECT"))
			continue;
		r.unresolved = unresolved;
		c = decided_cell(q->f, ACCESS_HTTP, &r);
		if (!access_way_of(&c, &way) ||
		    follows_http(q, &r, access_step(&c)))
			continue;
		c.lo = q->ports->lo;
		c.hi = q->ports->hi;
		c.other = h->other;
		c.tunnel = h->unnamed;
		*vec_push(a, &q->changed) = changed_of(a, &c, h);
	}
}

/* CONNECT that no rule names, where other requests changed like it. */
static bool goes_without_saying(const struct requests *q,
				const struct access_cell *tunnel)
{
	vec_each(c, &q->changed)
		if (!c->cell.tunnel &&
		    access_step(&c->cell) == access_step(tunnel))
			return true;
	return false;
}

static void visit_ports(void *ctx, const struct cells_ports *p)
{
	struct fronts *f = ctx;
	struct target to = {f->name->endpoint->to.name, true,
			    f->addr->endpoint->to.addr};
	struct ir_request r = cells_connect(&to, p->proto, p->shown);
	struct requests q = {.f = f, .ports = p};
	struct access_cell connect;
	int side;

	if (p->proto != IR_PROTO_TCP || sides_same(f->s, p->ids, p->n))
		return;
	sides_put_all(f->s, p->ids, p->n);
	connect = decided_cell(f, ACCESS_CONNECT, &r);
	q.step = access_step(&connect);
	cells_http(f->s, &to, p->shown, p->ids, p->n, NULL, visit_request, &q);
	vec_each(c, &q.changed) {
		uint32_t rule;

		if (c->cell.tunnel && goes_without_saying(&q, &c->cell))
			continue;
		rule = access_cause(f->s, &c->cell, c->ids, c->n, &side);
		if (ir_dest_net(&rule_grant(&f->s->rules.v[rule])->dest))
			f->by_addr = true;
		else
			f->by_name = true;
		access_add(f->x, &c->cell, c->ids, c->n);
	}
}

/* Can it be what does not follow from either of them? */
static bool is_needed(const struct fronts *f, const struct front *name,
		      const struct front *addr)
{
	bool inside = addr->endpoint->scope != ADDR_PUBLIC;

	if (!f->http && !name->http && !addr->http)
		return false;
	if (!addr->rules) /* none that is public: fronting_of() */
		return name->private;
	/* What has rules is read, and CONNECT refused for that. */
	if (addr->http && !(name->same && addr->same))
		return true;
	return name->deny || addr->deny || name->connect ||
	       (inside && name->private);
}

static void compare_pair(struct fronts *f, const struct front *name,
			 const struct front *addr)
{
	f->name = name;
	f->addr = addr;
	f->ids = endpoints_rules(f->s, name->endpoint, addr->endpoint, &f->n);
	f->work += 1 + f->n / 8;
	if (!sides_same(f->s, f->ids, f->n))
		cells_ports(f->s, f->ids, f->n, NULL, visit_ports, f);
	sides_rest(f->s);
}

static const struct front *end_of_kind(const front_list *l,
				       const struct front *p)
{
	const struct front *end = p;

	while (end < l->v + l->n && by_key(p, end) == 0)
		end++;
	return end;
}

/* As reach.c does: one of a kind each, and others that are responsible. */
static void compare_kinds(struct fronts *f, const struct front *name,
			  const struct front *name_end,
			  const struct front *addr,
			  const struct front *addr_end)
{
	bool by_name, by_addr;

	if (!is_needed(f, name, addr))
		return;
	f->by_name = f->by_addr = false;
	compare_pair(f, name, addr);
	by_name = f->by_name;
	by_addr = f->by_addr;
	for (const struct front *p = name + 1; by_name && p < name_end; p++)
		compare_pair(f, p, addr);
	for (const struct front *p = addr + 1; by_addr && p < addr_end; p++)
		compare_pair(f, name, p);
}

/* --- all of them --------------------------------------------------------- */

static bool any_about_requests(const struct sides *s)
{
	vec_each(r, &s->rules)
		if (rule_grant(r)->dest.kind == IR_DEST_ANY &&
		    ir_grant_http(rule_grant(r)))
			return true;
	return false;
}

bool fronting_compare(struct sides *s, struct access *x,
		      const struct endpoints *all)
{
	struct fronts f = {.s = s, .x = x, .http = any_about_requests(s)};
	front_list names, addrs;
	const struct front *n, *n_end, *k, *k_end;

	f.effect = effects_number(s, true);
	names = fronting_of(&f, &all->names);
	addrs = fronting_of(&f, &all->addrs);
	for (n = names.v; n < names.v + names.n; n = n_end) {
		n_end = end_of_kind(&names, n);
		for (k = addrs.v; k < addrs.v + addrs.n; k = k_end) {
			k_end = end_of_kind(&addrs, k);
			if (f.work > LIMIT_PAIRS)
				return false;
			compare_kinds(&f, n, n_end, k, k_end);
		}
	}
	return true;
}
