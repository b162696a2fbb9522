/* What is in the language, and what no engine here can enforce. */
#include "compiler/base/standin_nets.h"
#include "compiler/passes/passes.h"

#include <stdlib.h>

/* A certificate names hosts, and HAProxy checks no address in one. */
static bool check_address(struct pass_ctx *c, const struct ir_grant *g)
{
	if (g->dest.kind == IR_DEST_URL && g->dest.u.url.who == IR_DEST_CIDR &&
	    g->dest.u.url.scheme == IR_SCHEME_HTTPS) {
		diag_error(c->diags, DIAG_ADDRESS_TLS, g->dest.at,
			   "the certificate of an address cannot be checked");
		diag_help(
			c->diags,
			"grant a name, or the address and its port as a whole");
		return false;
	}
	if (g->dest.kind == IR_DEST_CIDR && !g->has_http && g->tls.set &&
	    g->tls.v == IR_TLS_INSPECT) {
		diag_error(c->diags, DIAG_ADDRESS_TLS, g->tls.from.at,
			   "'tls: inspect' for addresses without a name");
		diag_help(
			c->diags,
			"what is granted by address passes as it is; with 'http' requests are decided");
		return false;
	}
	return true;
}

/* The agent's programs run on a kernel of their own there. */
static bool is_seen(struct pass_ctx *c, const struct ir_policy *p)
{
	if (p->runtime.v != IR_RUNTIME_KATA ||
	    p->trace.engine.v == IR_TRACE_OFF)
		return true;
	diag_error(
		c->diags, DIAG_NEEDS_TRACE, p->runtime.from.at,
		"nothing can be traced: Kata gives the agent a virtual machine, and no tracer sees into it from outside");
	diag_help(
		c->diags,
		"--no-trace, or 'trace: {engine: \"off\"}', runs without a trace; other runtimes have one");
	return false;
}

static bool check_trace(struct pass_ctx *c, const struct ir_policy *p)
{
	const struct ir_trace *t = &p->trace;

	if (!is_seen(c, p))
		return false;
	if (!t->required.v || t->engine.v != IR_TRACE_OFF)
		return true;
	diag_error(c->diags, DIAG_NEEDS_TRACE, t->required.from.at,
		   "a trace is required, and nothing records one");
	diag_help(c->diags, "'engine: native' does");
	return false;
}

/* Who calls an address there may mean the name that it stands in for. */
static bool check_standins(struct pass_ctx *c, const struct ir_policy *p,
			   struct span at, const struct ir_dest *d)
{
	const struct cidr *net = ir_dest_net(d);
	const struct cidr *met = net ? standin_nets_meet(net) : NULL;
	char text[CIDR_TEXT_MAX];

	if (!met)
		return true;
	diag_error(
		c->diags, DIAG_NEEDS_UPSTREAM, at,
		"addresses of %s stand in for names that go by the proxy, and are nobody's",
		cidr_text(met, text));
	diag_note(c->diags, p->upstream.from.at, "it is named here");
	diag_help(
		c->diags,
		net->bits < met->bits
			? "write networks without them, or '*' for all that is public"
			: "leave them out: nobody has addresses for documentation");
	return false;
}

/* The launcher's call would have to leave by both. */
static bool check_renewals(struct pass_ctx *c, const struct ir_policy *p)
{
	if (!ir_uplink_named(p))
		return true;
	vec_each(x, &p->credentials) {
		if (!x->has_refresh)
			continue;
		diag_error(
			c->diags, DIAG_NEEDS_UPSTREAM, x->refresh.at,
			"tokens are not renewed by a proxy that a network of Docker's leads to");
		diag_note(c->diags, p->uplink.from.at,
			  "the network is named here");
		diag_help(
			c->diags,
			"without 'uplink' the proxy is reached from this machine; without 'refresh' its programs renew them");
		return false;
	}
	return true;
}

static bool check_upstream(struct pass_ctx *c, const struct ir_policy *p)
{
	bool ok = true;

	if (!p->upstream.set)
		return true;
	vec_each(g, &p->allow)
		ok &= check_standins(c, p, g->dest.at, &g->dest);
	vec_each(d, &p->upstream.direct)
		ok &= check_standins(c, p, d->from.at, &d->dest);
	return check_renewals(c, p) && ok;
}

bool passes_enforceable(struct pass_ctx *c, const struct ir_policy *p)
{
	bool ok = check_trace(c, p);

	ok &= check_upstream(c, p);
	vec_each(g, &p->allow)
		ok &= check_address(c, g);
	vec_each(g, &p->ask)
		ok &= check_address(c, g);
	return ok;
}
