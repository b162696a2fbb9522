/*
 * Where connections come in, in gate.cfg: how other protocols than HTTP and
 * TLS are told, and where they may pass.
 */
#include "compiler/emit/gate/gate_edge.cfg.inc"
#include "compiler/emit/gate/gate_marks.h"
#include "compiler/ir/ports.h"
#include "compiler/ir/upstream.h"
#include "compiler/plan/gate.h"

static void put_not_gate(struct gate *g)
{
	cfg_text(&g->c, ir_allows_machine(g->in->policy) ? not_gate_but_machine
							 : not_gate);
}

static void put_first_bytes(struct gate *g)
{
	put_not_gate(g);
	cfg_text(&g->c, first_bytes);
}

/* Where other protocols may pass, and servers speak first. */
static void put_raw(struct gate *g)
{
	struct cfg *c = &g->c;

	cfg_text(c, raw_head);
	if (g->asks)
		cfg_text(c, raw_asked);
	cfg_text(c, raw_begin);
	if (g->p->any_net)
		cfg_text(c, beside_networks);
	put_first_bytes(g);
	cfg_text(c, other_found);
	gate_marks_all(g, &g->p->allow, false, MARKS_RAW, MARKS_FOR(GRANTED));
	cfg_text(c, other_passes);
	cfg_text(c, raw_routes);
}

/* The same, where servers hardly ever do. */
static void put_patient(struct gate *g)
{
	struct cfg *c = &g->c;

	cfg_text(c, patient_head);
	if (g->p->any_net)
		cfg_text(c, beside_networks);
	put_first_bytes(g);
	cfg_text(c, other_found);
	cfg_text(c, other_passes);
	cfg_text(c, patient_routes);
}

static void put_bind(struct gate *g, const struct ir_port *p, const char *at,
		     const char *more)
{
	if (p->lo == p->hi)
		cfg_line(&g->c, "bind %s:%u%s", at, p->lo, more);
	else
		cfg_line(&g->c, "bind %s:%u-%u%s", at, p->lo, p->hi, more);
}

/* Each port of a grant, at every address that the gate has. */
static void put_binds(struct gate *g)
{
	ir_ports ports = {0};

	vec_each(x, &g->p->allow)
		vec_each(p, &x->ports)
			*vec_push(g->in->a, &ports) = *p;
	ports_normalise(&ports);
	vec_each(p, &ports)
		put_bind(g, p, "0.0.0.0", "");
	buf_adds(g->c.out, ".if defined(" GATE_ENV_IPV6 ")\n");
	vec_each(p, &ports)
		put_bind(g, p, "[::]", " v6only");
	buf_adds(g->c.out, ".endif\n");
}

/* Where only HTTP and TLS may pass. */
static void put_strict(struct gate *g)
{
	struct cfg *c = &g->c;

	cfg_text(c, strict_head);
	if (g->in->apart)
		put_binds(g);
	else
		cfg_text(c, strict_handed);
	if (g->asks)
		cfg_text(c, strict_asked);
	cfg_text(c, strict_begin);
	put_first_bytes(g);
	gate_marks_all(g, &g->p->allow, true, MARKS_RAW, MARKS_FOR(NOT_HTTP));
	gate_marks_guarded(g, MARKS_RAW, MARKS_FOR(DENIED));
	cfg_text(c, only_http);
	cfg_text(c, strict_routes);
}

/* What would pass by the packet filter alone, were there no proxy. */
static void put_nets(struct gate *g)
{
	const ir_grants *allow = &g->in->policy->allow;
	bool any = false;

	vec_each(x, allow)
		any |= upstream_takes(g->in->policy, x);
	if (!any)
		return;
	cfg_text(&g->c, nets);
	put_not_gate(g);
	cfg_text(&g->c, nets_pass);
}

void gate_edge_put(struct gate *g)
{
	cfg_text(&g->c, edge_shared);
	cfg_text(&g->c, g->c.origin ? edge_log_by_proxy : edge_log);
	cfg_text(&g->c, edge_begin);
	if (g->asks)
		gate_ask_put(g);
	if (!g->in->apart) {
		put_raw(g);
		put_patient(g);
	}
	put_strict(g);
	put_nets(g);
	cfg_text(&g->c, hops);
	if (!g->in->apart)
		cfg_text(&g->c, hops_of_others);
	cfg_text(&g->c, hop_of_requests);
}
