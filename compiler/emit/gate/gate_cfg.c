#include "compiler/emit/gate/gate_cfg.h"

#include "compiler/emit/gate/gate_global.cfg.inc"
#include "compiler/emit/gate/gate_marks.h"
#include "compiler/ir/inspection.h"
#include "compiler/plan/gate.h"

bool gate_cfg_wanted(const struct ir_policy *p)
{
	return profiles_wanted(p);
}

bool gate_cfg_decrypts(const struct ir_policy *p)
{
	if (!profiles_wanted(p))
		return false;
	if (p->credentials.n)
		return true;
	vec_each(g, &p->allow)
		if (inspection_opens(p, g))
			return true;
	vec_each(g, &p->ask)
		if (inspection_opens(p, g))
			return true;
	vec_each(d, &p->deny)
		if (inspection_opens(p, d))
			return true;
	return false;
}

/* Who HAProxy is, and what is handed to it: where the agent is in another Pod,
 * it is nobody else than the gate, and opens its ports itself. */
static void put_process(struct gate *g)
{
	struct cfg *c = &g->c;

	cfg_text(c, text_global);
	if (!g->in->apart)
		cfg_text(c, global_user);
	cfg_text(c, global_threads);
	cfg_text(c, g->in->apart ? global_apart : global_handed);
	cfg_text(c, g->asks ? global_ports_asking : global_ports);
	cfg_text(c, global_rest);
	if (c->origin)
		cfg_text(c, text_global_by_proxy);
	if (g->in->apart)
		cfg_text(c, resolver_apart);
	cfg_text(c, text_base);
}

bool gate_cfg_emit(const struct emit_in *in, struct buf *out)
{
	struct gate g = {.in = in,
			 .p = profiles_make(in),
			 .c = {in->a, in->diags, out, true, NULL},
			 .insecure = in->policy->ssl_insecure.set &&
				     in->policy->ssl_insecure.v};

	if (!g.p)
		return false;
	if (in->policy->upstream.set)
		g.c.origin = "unix@" GATE_UPSTREAM " send-proxy-v2";
	g.marks = gate_marks_new(&g);
	g.asks = g.p->ask.n > 0;
	put_process(&g);
	gate_edge_put(&g);
	gate_tls_put(&g);
	gate_requests_put(&g);
	return g.c.ok;
}
