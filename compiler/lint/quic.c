/*
 * Grants of UDP beside what is said of requests: QUIC carries requests too,
 * past everything that decides them (compiler/ir/inspection.h).
 */
#include "compiler/lint/parts.h"

#include "compiler/algebra/space/intersect.h"
#include "compiler/ir/inspection.h"
#include "compiler/lint/lint.h"

#define HTTPS 443

/*
 * A port that a grant of UDP and a rule on requests have in common, or 0. Where
 * the rule is about every port, only that of HTTPS counts: nobody means DNS.
 */
static uint16_t shared_port(const struct ir_port *udp, const ir_ports *ports)
{
	uint16_t at = 0;

	vec_each(p, ports) {
		uint16_t lo = p->lo > udp->lo ? p->lo : udp->lo;
		uint16_t hi = p->hi < udp->hi ? p->hi : udp->hi;

		if (lo > hi)
			continue;
		if (lo <= HTTPS && HTTPS <= hi)
			return HTTPS;
		if (!at && !(p->lo == 1 && p->hi == UINT16_MAX))
			at = lo;
	}
	return at;
}

static bool is_about(struct pass_ctx *c, const struct ir_grant *x,
		     const struct ir_grant *y)
{
	const struct cidr *a = ir_dest_net(&x->dest);
	const struct cidr *b = ir_dest_net(&y->dest);
	struct ir_dest ignored;

	if (a && b)
		return cidr_covers(a, b) || cidr_covers(b, a);
	return intersect_dest(c->a, &x->dest, &y->dest, &ignored);
}

/* Is QUIC refused there, wholly or for a part of the names? */
static bool lint_refused(struct pass_ctx *c, const struct ir_policy *p,
			 const struct ir_grant *g, const struct ir_port *udp)
{
	vec_each(d, &p->deny) {
		uint16_t port = shared_port(udp, &d->ports);

		if (!port || !inspection_quic(d, port) || !ir_grant_http(d) ||
		    !is_about(c, g, d))
			continue;
		diag_warn(
			c->diags, DIAG_QUIC_REFUSED, udp->at,
			"QUIC to '%s' is refused on udp/%u: nobody sees the requests in it",
			lint_quoted(c, &g->dest), port);
		lint_about(c, &g->dest);
		diag_note(c->diags, d->from.at, "this denies some of them");
		diag_help(
			c->diags,
			"clients use TCP where QUIC is refused; other datagrams pass");
		return true;
	}
	return false;
}

static void lint_unread(struct pass_ctx *c, const struct ir_policy *p,
			const struct ir_grant *g, const struct ir_port *udp)
{
	vec_each(h, &p->allow) {
		uint16_t port = shared_port(udp, &h->ports);

		if (!port || !inspection_decrypts(p, h) || !is_about(c, g, h))
			continue;
		diag_warn(c->diags, DIAG_QUIC_UNREAD, udp->at,
			  "requests to '%s' pass unread by HTTP/3 on udp/%u",
			  lint_quoted(c, &g->dest), port);
		lint_about(c, &g->dest);
		if (h != g)
			diag_note(c->diags, h->from.at,
				  "over TCP they are decided here");
		diag_help(c->diags, "without the UDP port clients use TCP");
		return;
	}
}

void quic_lint(struct pass_ctx *c, const struct ir_policy *p,
	       const bool *denied)
{
	vec_each(g, &p->allow) {
		if (denied[g - p->allow.v] || ir_grant_http(g))
			continue;
		vec_each(udp, &g->ports)
			if (udp->proto == IR_PROTO_UDP &&
			    !lint_refused(c, p, g, udp))
				lint_unread(c, p, g, udp);
	}
}
