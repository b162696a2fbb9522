#include "compiler/passes/passes.h"

#include <stdlib.h>

static const char *dest(struct pass_ctx *c, const struct ir_grant *g)
{
	return diag_quote(c->diags, ir_dest_text(c->a, &g->dest));
}

static bool refuse(struct pass_ctx *c, enum diag_id id, struct span at,
		   const char *what)
{
	diag_error(c->diags, id, at, "%s cannot be enforced yet", what);
	return false;
}

/* The entry that says as much of a URL as packets can: host and port. */
static void help_url(struct pass_ctx *c, const struct ir_url *u)
{
	char text[ADDR_TEXT_MAX];

	if (u->who == IR_DEST_CIDR)
		diag_help(c->diags,
			  u->net.addr.family == ADDR_V6
				  ? "'[%s]:%u' opens the whole of it"
				  : "'%s:%u' opens the whole of it",
			  addr_text(&u->net.addr, text), u->port);
	else
		diag_help(c->diags, "'%s:%u' opens the whole host on that port",
			  diag_quote(c->diags, u->name), u->port);
}

static bool check_grant(struct pass_ctx *c, const struct ir_grant *g)
{
	if (g->dest.kind == IR_DEST_URL) {
		diag_error(c->diags, DIAG_NEEDS_HTTP, g->dest.at,
			   "a grant of a URL cannot be enforced yet");
		help_url(c, &g->dest.u.url);
		return false;
	}
	if (g->has_http) {
		diag_error(c->diags, DIAG_NEEDS_HTTP,
			   g->http.n ? g->http.v[0].at : g->dest.at,
			   "'http' rules cannot be enforced yet");
		diag_help(c->diags,
			  "without 'http' the whole of '%s' is open "
			  "on its ports",
			  dest(c, g));
		return false;
	}
	if (g->tls.set && g->tls.v == IR_TLS_INSPECT)
		return refuse(c, DIAG_NEEDS_INSPECT, g->tls.from.at,
			      "'tls: inspect'");
	return true;
}

static bool check_denial(struct pass_ctx *c, const struct ir_grant *d)
{
	switch (d->dest.kind) {
	case IR_DEST_HOST:
	case IR_DEST_PATTERN:
		diag_error(c->diags, DIAG_NEEDS_NAMES, d->dest.at,
			   "a denial of a name cannot be enforced yet");
		diag_help(c->diags, "what nothing allows is denied; deny its "
				    "addresses, or allow less");
		return false;
	case IR_DEST_URL:
		diag_error(c->diags, DIAG_NEEDS_NAMES, d->dest.at,
			   "a denial of a URL cannot be enforced yet");
		diag_help(c->diags, "what nothing allows is denied; deny its "
				    "addresses, or allow less");
		return false;
	case IR_DEST_ANY:
	case IR_DEST_CIDR:
		if (!d->has_http)
			return true;
		return refuse(c, DIAG_NEEDS_HTTP,
			      d->http.n ? d->http.v[0].at : d->dest.at,
			      "a denial of requests");
	case IR_DEST_POISON:
		return true;
	}
	abort();
}

static bool check_scalars(struct pass_ctx *c, const struct ir_policy *p)
{
	bool ok = true;

	if (p->tls.v == IR_TLS_INSPECT)
		ok = refuse(c, DIAG_NEEDS_INSPECT, p->tls.from.at,
			    "'tls: inspect'");
	if (p->ssl_insecure.v)
		ok = refuse(c, DIAG_NEEDS_INSPECT, p->ssl_insecure.from.at,
			    "'ssl_insecure'");
	if (p->engine.v != IR_ENGINE_DOCKER) {
		diag_error(c->diags, DIAG_NEEDS_ENGINE, p->engine.from.at,
			   "the engine '%s' is not there yet",
			   ir_engine_name(p->engine.v));
		diag_help(c->diags, "'engine: docker' is");
		ok = false;
	}
	if (p->resolver.v.transport != IR_TRANSPORT_DNS) {
		diag_error(c->diags, DIAG_NEEDS_RESOLVER, p->resolver.from.at,
			   "DNS over TLS and HTTPS are not there yet");
		diag_help(c->diags, "an address, as in '9.9.9.9', is asked "
				    "over UDP and TCP");
		ok = false;
	}
	if (p->trace.required.v) {
		diag_error(c->diags, DIAG_NEEDS_TRACE,
			   p->trace.required.from.at,
			   "a trace is required, and nothing traces yet");
		diag_help(c->diags, "without 'required' the session runs "
				    "untraced, and says so");
		ok = false;
	}
	return ok;
}

bool passes_enforceable(struct pass_ctx *c, const struct ir_policy *p)
{
	bool ok = check_scalars(c, p);

	vec_each(g, &p->allow)
		ok &= check_grant(c, g);
	vec_each(d, &p->deny)
		ok &= check_denial(c, d);
	vec_each(x, &p->credentials)
		ok &= refuse(c, DIAG_NEEDS_CREDENTIALS, x->from.at,
			     "'credentials'");
	vec_each(x, &p->protect)
		ok &= refuse(c, DIAG_NEEDS_PROTECT, x->from.at, "'protect'");
	return ok;
}
