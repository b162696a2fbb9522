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
	cfg_text(&g.c, text_global);
	cfg_text(&g.c, g.asks ? global_ports_asking : global_ports);
	cfg_text(&g.c, global_rest);
	if (g.c.origin)
		cfg_text(&g.c, text_global_by_proxy);
	cfg_text(&g.c, text_base);
	gate_edge_put(&g);
	gate_tls_put(&g);
	gate_requests_put(&g);
	return g.c.ok;
}
