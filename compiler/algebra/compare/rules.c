/*
 * Which rules of a policy do something, and beside which others: for lint.
 *
 * By the cells of compare.h: a rule is used when there is a request that would
 * be decided otherwise without it.
 */
#include "compiler/algebra/compare/parts.h"

#include "compiler/algebra/space/numbers.h"
#include "compiler/algebra/space/endpoints.h"
#include "compiler/algebra/space/trie.h"
#include "compiler/ir/ports.h"

#include <stdlib.h>
#include <string.h>

/* A cell of requests, and which rules permit them, ask about them, or deny
 * them. */
struct cell {
	trie_ids rules;
	uint32_t left; /* of them, those that are not told to go */
};

struct uses {
	struct arena *a;
	struct sides *s;
	const struct endpoint *endpoint;
	enum rule_list list; /* which rules it is about */
	VEC(struct cell) cells;
	trie_ids *of;	    /* per rule: its cells that count */
	uint32_t *taken_by; /* per rule: what decides a cell of its own */
	struct rule_finding *out;
};

/* --- cells --------------------------------------------------------------- */

static enum rule_list list_of(const struct rule *r)
{
	return r->deny ? RULES_DENIALS : r->ask ? RULES_ASKED : RULES_GRANTS;
}

/* Is that what a rule of the list has to say? */
static bool is_said(const struct uses *u, const struct decision *d)
{
	switch (u->list) {
	case RULES_GRANTS:
		return d->verdict == VERDICT_ALLOW;
	case RULES_ASKED:
		return d->verdict == VERDICT_ASK;
	case RULES_DENIALS:
		return d->verdict == VERDICT_DENY;
	case RULE_LISTS:
		break;
	}
	abort();
}

/* Would the rule decide so by itself? Only the floor stands beside it. */
static bool by_itself(struct uses *u, uint32_t rule, const uint32_t *ids,
		      uint32_t n, const struct ir_request *r)
{
	const struct rule *rules = u->s->rules.v;
	bool deny = rules[rule].deny;
	struct decision d;

	sides_clear(u->s);
	for (uint32_t i = 0; i < n; i++) {
		const struct ir_grant *g = rule_grant(&rules[ids[i]]);
		bool floor = g->from.layer == LAYER_FLOOR;

		/* Beside a denial all grants, or there would be nothing. */
		if (ids[i] == rule || floor || (deny && !rules[ids[i]].deny))
			sides_put(u->s, ids[i], NULL, 0);
	}
	d = sides_ask(u->s, 1, r).d;
	return is_said(u, &d);
}

/* Of entries of ask those with the widest answer count; of others all. */
static bool is_widest(const struct uses *u, uint32_t rule,
		      const struct decision *all)
{
	return rule_grant(&u->s->rules.v[rule])->lasts.v == all->grant->lasts.v;
}

static void add_cell(struct uses *u, const uint32_t *ids, uint32_t n,
		     const struct ir_request *r)
{
	const struct rule *rules = u->s->rules.v;
	struct cell cell = {.left = 0};
	struct ruling all;
	uint32_t at = u->cells.n;

	sides_clear(u->s);
	for (uint32_t i = 0; i < n; i++)
		sides_put(u->s, ids[i], NULL, 0);
	all = sides_ask(u->s, 1, r);
	if (u->list == RULES_DENIALS && all.d.reason != REASON_DENIED)
		return;
	for (uint32_t i = 0; i < n; i++) {
		if (list_of(&rules[ids[i]]) != u->list ||
		    rule_grant(&rules[ids[i]])->from.layer == LAYER_FLOOR)
			continue;
		/* What is alone has decided by itself. */
		if (n == 1 ? !is_said(u, &all.d)
			   : !by_itself(u, ids[i], ids, n, r))
			continue;
		if (is_said(u, &all.d) && is_widest(u, ids[i], &all.d))
			*vec_push(u->a, &cell.rules) = ids[i];
		else
			u->taken_by[ids[i]] = all.rule;
	}
	if (cell.rules.n == 0)
		return;
	cell.left = cell.rules.n;
	*vec_push(u->a, &u->cells) = cell;
	vec_each(id, &cell.rules)
		*vec_push(u->a, &u->of[*id]) = at;
}

static void visit_request(void *ctx, const struct cells_http *h)
{
	struct uses *u = ctx;

	add_cell(u, h->ids, h->n, &h->request);
}

static bool is_private(const struct rule *r)
{
	return rule_grant(r)->private.v;
}

static void visit_ports(void *ctx, const struct cells_ports *p)
{
	struct uses *u = ctx;
	struct ir_request r =
		cells_connect(&u->endpoint->to, p->proto, p->shown);
	struct target inside = u->endpoint->to;
	bool private = false;

	numbers_sort(p->ids, p->n);
	add_cell(u, p->ids, p->n, &r);
	for (uint32_t i = 0; i < p->n; i++)
		private |= is_private(&u->s->rules.v[p->ids[i]]);
	if (private && !u->endpoint->to.has_addr) {
		inside.has_addr = addr_parse(STR("10.0.0.1"), &inside.addr);
		r = cells_connect(&inside, p->proto, p->shown);
		add_cell(u, p->ids, p->n, &r);
	}
	if (p->proto == IR_PROTO_TCP &&
	    !cells_no_requests(u->s, &u->endpoint->to, p->ids, p->n))
		cells_http(u->s, &u->endpoint->to, p->shown, p->ids, p->n, NULL,
			   visit_request, u);
}

static void visit_endpoint(struct uses *u, const struct endpoint *endpoint)
{
	bool some = false;

	for (uint32_t i = 0; i < endpoint->n; i++)
		some |= list_of(&u->s->rules.v[endpoint->ids[i]]) == u->list;
	if (!some)
		return;
	u->endpoint = endpoint;
	cells_ports(u->s, endpoint->ids, endpoint->n, NULL, visit_ports, u);
	sides_rest(u->s);
}

/* --- findings ------------------------------------------------------------ */

/* Of the rules in the cells of one, that which is in most of them. */
static uint32_t most_common(struct uses *u, uint32_t rule, uint32_t *counts,
			    bool left_only)
{
	uint32_t best = SIDES_NONE, n_best = 0;

	vec_each(c, &u->of[rule])
		vec_each(id, &u->cells.v[*c].rules) {
			if (*id == rule ||
			    (left_only && u->out[*id].use == RULE_SHADOWED))
				continue;
			counts[*id]++;
			if (counts[*id] > n_best ||
			    (counts[*id] == n_best && *id < best)) {
				n_best = counts[*id];
				best = *id;
			}
		}
	vec_each(c, &u->of[rule])
		vec_each(id, &u->cells.v[*c].rules)
			counts[*id] = 0;
	return best;
}

static bool is_needed(const struct uses *u, uint32_t rule)
{
	const struct ir_grant *g = rule_grant(&u->s->rules.v[rule]);

	/* Requests look the same, and yet it decides who sees them. */
	if (g->tls.set && g->tls.v == IR_TLS_INSPECT)
		return true;
	vec_each(c, &u->of[rule])
		if (u->cells.v[*c].left < 2)
			return true;
	return false;
}

struct order {
	uint32_t rule, cells;
	uint32_t at; /* where it was written */
};

/* The narrowest first, and of those alike what was written last. */
static int by_width(const void *va, const void *vb)
{
	const struct order *a = va, *b = vb;

	if (a->cells != b->cells)
		return a->cells < b->cells ? -1 : 1;
	if (a->at != b->at)
		return a->at > b->at ? -1 : 1;
	return (a->rule > b->rule) - (a->rule < b->rule);
}

static void judge_uses(struct uses *u, uint32_t rule, uint32_t *counts)
{
	struct rule_finding *f = &u->out[rule];
	uint32_t by;

	if (u->of[rule].n == 0) {
		if (u->list == RULES_DENIALS)
			return;
		f->use = RULE_DEAD;
		if (u->taken_by[rule] != SIDES_NONE)
			f->by = rule_grant(&u->s->rules.v[u->taken_by[rule]]);
		return;
	}
	by = most_common(u, rule, counts, true);
	if (by == SIDES_NONE)
		return;
	f->by = rule_grant(&u->s->rules.v[by]);
	f->use = RULE_OVERLAPS;
	if (is_needed(u, rule))
		return;
	f->use = RULE_SHADOWED;
	vec_each(c, &u->of[rule])
		u->cells.v[*c].left--;
}

static void judge_all(struct uses *u)
{
	uint32_t n = u->s->rules.n, m = 0;
	struct order *order = arena_array(u->a, n + 1, sizeof(*order));
	uint32_t *counts = arena_array(u->a, n + 1, sizeof(*counts));

	for (uint32_t i = 0; i < n; i++) {
		const struct rule *r = &u->s->rules.v[i];

		if (list_of(r) == u->list &&
		    rule_grant(r)->from.layer != LAYER_FLOOR)
			order[m++] = (struct order){i, u->of[i].n,
						    rule_grant(r)->from.at.beg};
	}
	qsort(order, m, sizeof(*order), by_width);
	for (uint32_t i = 0; i < m; i++)
		judge_uses(u, order[i].rule, counts);
}

/* Rules in the order of sides.h: grants as they are, then denials. */
static bool find_rules(struct arena *a, const struct ir_policy *p,
		       enum rule_list list, struct rule_finding *out)
{
	struct sides s;
	struct endpoints all;
	struct uses u = {.a = a, .s = &s, .list = list};
	uint32_t n;

	sides_init(&s, a, NULL, p);
	n = s.rules.n;
	u.of = arena_array(a, n + 1, sizeof(*u.of));
	u.taken_by = arena_array(a, n + 1, sizeof(*u.taken_by));
	u.out = arena_array(a, n + 1, sizeof(*u.out));
	for (uint32_t i = 0; i < n; i++)
		u.taken_by[i] = SIDES_NONE;
	endpoints_find(&s, NULL, false, &all);
	vec_each(endpoint, &all.names)
		visit_endpoint(&u, endpoint);
	vec_each(endpoint, &all.addrs)
		visit_endpoint(&u, endpoint);
	if (all.complete) {
		judge_all(&u);
		for (uint32_t i = 0, k = 0; i < n; i++)
			if (list_of(&s.rules.v[i]) == list)
				out[k++] = u.out[i];
	}
	sides_done(&s);
	return all.complete;
}

static void grant_all(struct arena *a, struct ir_policy *p, struct ir_dest dest)
{
	struct ir_grant *g = vec_push(a, &p->allow);

	g->dest = dest;
	g->from.layer = LAYER_GLOBAL; /* the floor grants no request */
	g->private.set = g->private.v = true;
	*vec_push(a, &g->ports) =
		(struct ir_port){.proto = IR_PROTO_TCP, .lo = 1, .hi = 65535};
	*vec_push(a, &g->ports) =
		(struct ir_port){.proto = IR_PROTO_UDP, .lo = 1, .hi = 65535};
}

/*
 * Every destination, so that denials have something to deny: '*' leads to no
 * private address that has no name.
 */
static struct ir_policy all_granted(struct arena *a, const struct ir_policy *p)
{
	static const uint8_t families[] = {4, 6};
	struct ir_policy out = *p;

	memset(&out.allow, 0, sizeof(out.allow));
	memset(&out.ask, 0, sizeof(out.ask));
	grant_all(a, &out, (struct ir_dest){.kind = IR_DEST_ANY});
	for (size_t i = 0; i < ARRAY_LEN(families); i++)
		grant_all(a, &out,
			  (struct ir_dest){.kind = IR_DEST_CIDR,
					   .u.cidr.net.addr.family =
						   families[i]});
	return out;
}

static bool denies_any(const struct ir_policy *p)
{
	vec_each(d, &p->deny)
		if (d->from.layer != LAYER_FLOOR)
			return true;
	return false;
}

bool rules_find(struct arena *a, const struct ir_policy *p,
		struct rule_finding *out[RULE_LISTS])
{
	struct ir_policy granted = all_granted(a, p);
	const ir_grants *lists[] = {[RULES_GRANTS] = &p->allow,
				    [RULES_ASKED] = &p->ask,
				    [RULES_DENIALS] = &p->deny};
	bool ok;

	for (int i = 0; i < RULE_LISTS; i++)
		out[i] = arena_array(a, lists[i]->n + 1, sizeof(*out[i]));
	ok = find_rules(a, p, RULES_GRANTS, out[RULES_GRANTS]);
	if (p->ask.n)
		ok &= find_rules(a, p, RULES_ASKED, out[RULES_ASKED]);
	if (denies_any(p))
		ok &= find_rules(a, &granted, RULES_DENIALS,
				 out[RULES_DENIALS]);
	return ok;
}
