/* What a grant says that contradicts itself. */
#include "compiler/ir/upstream.h"
#include "compiler/passes/passes.h"

/* http rules are for TCP: nothing tells one request from another on UDP. */
static bool check_http(struct pass_ctx *c, const struct ir_grant *g)
{
	vec_each(p, &g->ports) {
		if (p->proto != IR_PROTO_UDP)
			continue;
		diag_error(c->diags, DIAG_HTTP_UDP, p->at,
			   "'http' rules on a UDP port");
		diag_help(
			c->diags,
			"list TCP ports here, and the UDP port in an entry of its own");
		return false;
	}
	return true;
}

/* A proxy connects: it has no word for datagrams. */
static bool check_datagrams(struct pass_ctx *c, const struct ir_policy *p,
			    const struct ir_grant *g)
{
	vec_each(port, &g->ports) {
		if (port->proto != IR_PROTO_UDP || upstream_passes(p, &g->dest))
			continue;
		diag_error(c->diags, DIAG_UPSTREAM, port->at,
			   "UDP does not go by a proxy");
		diag_note(c->diags, p->upstream.from.at, "which is named here");
		diag_help(
			c->diags,
			"what is under 'direct' goes past it; HTTP/3 clients go on with TCP where UDP is closed");
		return false;
	}
	return true;
}

bool passes_conflicts(struct pass_ctx *c, const struct ir_policy *p)
{
	bool ok = true;

	vec_each(g, &p->allow) {
		if (g->has_http)
			ok &= check_http(c, g);
		ok &= check_datagrams(c, p, g);
	}
	return ok;
}
