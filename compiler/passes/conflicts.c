/* What a grant says that contradicts itself. */
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

bool passes_conflicts(struct pass_ctx *c, const struct ir_policy *p)
{
	bool ok = true;

	vec_each(g, &p->allow)
		if (g->has_http)
			ok &= check_http(c, g);
	return ok;
}
