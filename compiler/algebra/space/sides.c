#include "compiler/algebra/space/sides.h"

#include "compiler/algebra/space/numbers.h"
#include "compiler/ir/inspection.h"
#include "compiler/ir/ports.h"

#include <stdlib.h>
#include <string.h>

/* After so many the memory that they took is released. */
#define SCRATCH_DECISIONS 4096

const struct ir_grant *rule_grant(const struct rule *r)
{
	return r->g[0] ? r->g[0] : r->g[1];
}

bool rule_shared(const struct rule *r)
{
	return r->g[0] && r->g[1];
}

bool rule_connect(const struct rule *r)
{
	vec_each(h, &rule_grant(r)->http)
		vec_each(m, &h->methods)
			if (str_is(m->s, "CONNECT"))
				return true;
	return false;
}

/* Which list of a policy the rules are of. */
enum rules_of { RULES_ALLOW, RULES_ASK, RULES_DENY };

static void add_rule(struct sides *s, enum rules_of of,
		     const struct ir_grant *was, const struct ir_grant *is)
{
	*vec_push(s->a, &s->rules) = (struct rule){
		.deny = of == RULES_DENY, .ask = of == RULES_ASK, {was, is}};
}

/* The floor's denials are not those that users write. */
static int by_meaning(const struct ir_grant *a, const struct ir_grant *b)
{
	int c = str_cmp(a->canon, b->canon);

	if (c)
		return c;
	return (int)(b->from.layer == LAYER_FLOOR) -
	       (int)(a->from.layer == LAYER_FLOOR);
}

/* Two lists in the order of canon become one. */
static void add_rules(struct sides *s, enum rules_of of, const ir_grants *was,
		      const ir_grants *is)
{
	uint32_t i = 0, k = 0;

	while (i < was->n || k < is->n) {
		int c = i == was->n  ? 1
			: k == is->n ? -1
				     : by_meaning(&was->v[i], &is->v[k]);

		add_rule(s, of, c <= 0 ? &was->v[i] : NULL,
			 c >= 0 ? &is->v[k] : NULL);
		i += c <= 0;
		k += c >= 0;
	}
}

void sides_init(struct sides *s, struct arena *a, const struct ir_policy *was,
		const struct ir_policy *is)
{
	static const struct ir_policy nothing;

	*s = (struct sides){.a = a, .n = 1 + (was && is), .p = {was, is}};
	s->scratch = arena_new();
	for (int k = 0; k < 2; k++) {
		if (!s->p[k])
			continue;
		s->view[k].p = *s->p[k];
		s->view[k].unseen = inspection_unseen(s->p[k]);
		s->view[k].quic = inspection_quic_ports(a, s->p[k]);
		s->view[k].inside = inspection_ports(a, s->p[k]);
	}
	s->quic_differs = !ports_cover(&s->view[0].quic, &s->view[1].quic) ||
			  !ports_cover(&s->view[1].quic, &s->view[0].quic);
	if (!was)
		was = &nothing;
	if (!is)
		is = &nothing;
	add_rules(s, RULES_ALLOW, &was->allow, &is->allow);
	add_rules(s, RULES_ASK, &was->ask, &is->ask);
	add_rules(s, RULES_DENY, &was->deny, &is->deny);
	s->inspection_differs =
		!ports_cover(&s->view[0].inside, &s->view[1].inside) ||
		!ports_cover(&s->view[1].inside, &s->view[0].inside);
	s->places = arena_array(a, s->rules.n + 1, sizeof(*s->places));
	for (int k = 0; k < 2; k++)
		s->view[k].p.allow = s->view[k].p.ask = s->view[k].p.deny =
			nothing.allow;
}

void sides_done(struct sides *s)
{
	arena_free(s->scratch);
}

static bool has_udp(const struct ir_grant *g)
{
	vec_each(p, &g->ports)
		if (p->proto == IR_PROTO_UDP)
			return true;
	return false;
}

/* CONNECT by it is refused where requests are read for the sake of others. */
static bool sees_inspection(const struct rule *r)
{
	const struct ir_grant *g = rule_grant(r);

	return rule_connect(r) ||
	       (!r->deny && ir_dest_net(&g->dest) && !ir_grant_http(g) &&
		inspection_has_tcp(g));
}

bool sides_same(const struct sides *s, const uint32_t *ids, uint32_t n)
{
	if (s->view[0].unseen != s->view[1].unseen)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const struct rule *r = &s->rules.v[ids[i]];

		if (!rule_shared(r) ||
		    (s->inspection_differs && sees_inspection(r)) ||
		    (s->quic_differs && !r->deny && has_udp(rule_grant(r))))
			return false;
	}
	return true;
}

void sides_rest(struct sides *s)
{
	if (s->used <= SCRATCH_DECISIONS)
		return;
	sides_clear(s);
	arena_free(s->scratch);
	s->scratch = arena_new();
	s->used = 0;
}

/* --- views --------------------------------------------------------------- */

void sides_clear(struct sides *s)
{
	for (int k = 0; k < 2; k++) {
		struct side_view *v = &s->view[k];

		v->p.allow.n = v->p.ask.n = v->p.deny.n = 0;
		v->allow.n = v->ask.n = v->deny.n = 0;
	}
}

void sides_put(struct sides *s, uint32_t rule, const struct ir_http *http,
	       uint32_t n)
{
	const struct rule *r = &s->rules.v[rule];

	for (int k = 0; k < 2; k++) {
		struct side_view *v = &s->view[k];
		struct ir_grant *g;

		if (!r->g[k])
			continue;
		g = vec_push(s->a, r->deny  ? &v->p.deny
				   : r->ask ? &v->p.ask
					    : &v->p.allow);
		*g = *r->g[k];
		if (r->deny)
			*vec_push(s->a, &v->deny) = rule;
		else if (r->ask)
			*vec_push(s->a, &v->ask) = rule;
		else
			*vec_push(s->a, &v->allow) = rule;
		if (!http)
			continue;
		g->http.n = 0;
		g->http.v = arena_array(s->scratch, n, sizeof(*g->http.v));
		for (uint32_t i = 0; i < n; i++) {
			struct ir_http *h = &g->http.v[g->http.n++];

			*h = http[i];
			h->any_path = true;
			h->paths.n = 0;
		}
	}
}

void sides_put_all(struct sides *s, uint32_t *ids, uint32_t n)
{
	sides_clear(s);
	numbers_sort(ids, n);
	for (uint32_t i = 0; i < n; i++)
		sides_put(s, ids[i], NULL, 0);
}

/* --- decisions ----------------------------------------------------------- */

static uint32_t rule_of(const struct side_view *v, const struct ir_grant *g)
{
	const ir_grants *allow = &v->p.allow, *ask = &v->p.ask,
			*deny = &v->p.deny;

	if (!g)
		return SIDES_NONE;
	if (allow->n && g >= allow->v && g < allow->v + allow->n)
		return v->allow.v[g - allow->v];
	if (ask->n && g >= ask->v && g < ask->v + ask->n)
		return v->ask.v[g - ask->v];
	if (deny->n && g >= deny->v && g < deny->v + deny->n)
		return v->deny.v[g - deny->v];
	return SIDES_NONE;
}

static uint32_t quic_rule(struct sides *s, int side, uint16_t port)
{
	struct side_view *v = &s->view[side];

	if (v->quic_port == port)
		return v->quic_rule;
	v->quic_port = port;
	v->quic_rule = SIDES_NONE;
	for (uint32_t i = 0; i < s->rules.n; i++) {
		const struct rule *r = &s->rules.v[i];

		if (r->deny && r->g[side] &&
		    inspection_quic(r->g[side], port)) {
			v->quic_rule = i;
			break;
		}
	}
	return v->quic_rule;
}

/* For a denial that may speak of others, and not be in the view. */
static bool is_quic_refused(const struct side_view *v,
			    const struct ir_request *r)
{
	struct decide_flow f = {.proto = r->proto,
				.port = r->port,
				.has_addr = r->has_addr,
				.addr = r->addr,
				.is_quic = true,
				.name = r->name};

	return ports_has(&v->quic, IR_PROTO_UDP, r->port) &&
	       decide_quic_blind(&v->p, &f);
}

/*
 * Of CONNECT to an address, in the clear: what looks there for the sake of
 * others refuses it.
 */
static bool is_connect_refused(const struct side_view *v,
			       const struct ir_request *r)
{
	return str_is(r->method, "CONNECT") &&
	       r->url.scheme == IR_SCHEME_HTTP &&
	       (r->has_addr || r->url.who == IR_DEST_CIDR) &&
	       ports_has(&v->inside, IR_PROTO_TCP, r->url.port);
}

/* Where nobody can be asked about it after all. */
static struct decision without_asking(struct sides *s, struct side_view *v,
				      const struct ir_request *r)
{
	struct ir_policy p = v->p;

	p.ask.n = 0;
	return decide_part(s->scratch, &p, v->unseen, NULL, r);
}

struct ruling sides_ask(struct sides *s, int side, const struct ir_request *r)
{
	struct side_view *v = &s->view[side];
	struct ruling out = {.rule = SIDES_NONE};

	s->used++;
	out.d = decide_part(s->scratch, &v->p, v->unseen, NULL, r);
	out.rule = rule_of(v, out.d.grant);
	if (r->kind == IR_REQ_HTTP && out.d.verdict != VERDICT_DENY &&
	    is_connect_refused(v, r)) {
		out.d = out.d.verdict == VERDICT_ASK
				? without_asking(s, v, r)
				: (struct decision){.reason = REASON_METHOD};
		out.rule = rule_of(v, out.d.grant);
	}
	if (r->kind == IR_REQ_CONNECT && r->quic &&
	    (out.d.verdict != VERDICT_DENY || out.d.reason == REASON_QUIC) &&
	    is_quic_refused(v, r)) {
		out.d = (struct decision){.reason = REASON_QUIC};
		out.rule = quic_rule(s, side, r->port);
	}
	if (out.rule != SIDES_NONE)
		out.d.grant = s->rules.v[out.rule].g[side];
	return out;
}
