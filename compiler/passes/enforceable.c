/* What is in the language, and what no engine here can enforce. */
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
	if (p->runtime.v != IR_RUNTIME_KATA || p->trace.events.n == 0 ||
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

static bool check_scalars(struct pass_ctx *c, const struct ir_policy *p)
{
	return check_trace(c, p);
}

static bool say_past_proxy(struct pass_ctx *c, const struct ir_policy *p,
			   struct span at, const char *what)
{
	diag_error(c->diags, DIAG_NEEDS_UPSTREAM, at,
		   "%s: only names go by the proxy so far, and nothing past it",
		   what);
	diag_note(c->diags, p->upstream.from.at, "it is named here");
	diag_help(c->diags, "name hosts alone, or leave 'upstream' out");
	return false;
}

/* What the gate hands to a proxy is a name and a port. */
static bool check_upstream(struct pass_ctx *c, const struct ir_policy *p)
{
	bool ok = true;

	if (!p->upstream.set)
		return true;
	vec_each(g, &p->allow)
		if (g->dest.kind == IR_DEST_ANY)
			ok = say_past_proxy(c, p, g->dest.at, "'*' is granted");
		else if (ir_dest_net(&g->dest))
			ok = say_past_proxy(c, p, g->dest.at,
					    "an address is granted");
	vec_each(x, &p->credentials)
		if (x->has_refresh)
			ok = say_past_proxy(c, p, x->refresh.at,
					    "tokens are renewed from the host");
	if (p->engine.v == IR_ENGINE_NATIVE) {
		diag_error(c->diags, DIAG_NEEDS_UPSTREAM, p->upstream.from.at,
			   "the native engine does not go out by a proxy yet");
		diag_note(c->diags, p->engine.from.at, "it is chosen here");
		diag_help(c->diags, "'engine: docker' does");
		ok = false;
	}
	if (p->upstream.direct.n)
		ok = say_past_proxy(c, p, p->upstream.direct.v[0].from.at,
				    "'direct' is written");
	return ok;
}

bool passes_enforceable(struct pass_ctx *c, const struct ir_policy *p)
{
	bool ok = check_scalars(c, p);

	ok &= check_upstream(c, p);
	vec_each(g, &p->allow)
		ok &= check_address(c, g);
	return ok;
}
