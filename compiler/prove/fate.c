/* What becomes of one packet, from hook to hook. */
#include "compiler/prove/parts.h"

#include "compiler/ir/ir.h"
#include "compiler/plan/gate.h"

#include <stdlib.h>

static bool has_class(const struct names_classes *const tie[2], uint32_t class)
{
	return (tie[0] && names_class_has(tie[0], class)) ||
	       (tie[1] && names_class_has(tie[1], class));
}

static bool member_of(const struct cell *c, const struct spot *at,
		      uint32_t term)
{
	const struct firewall_term *t = &c->p->firewall.terms.v[term];

	if (at->addr.family != t->family)
		return false;
	switch (c->p->filler[term]) {
	case FILLER_NOBODY:
		return at->in[term];
	case FILLER_RESOLVER:
		return at == c->called && has_class(c->tie, t->class);
	case FILLER_HOST:
		return (at == c->called && c->is_host) || at->in[term];
	case FILLER_PROXY:
		return at == c->called && c->peer == FILLER_PROXY;
	case FILLER_ASKED:
		return at == c->called && c->peer == FILLER_ASKED;
	}
	abort();
}

static bool is_to(const void *ctx, uint32_t term)
{
	const struct cell *c = ctx;

	return member_of(c, c->to, term);
}

static bool is_from(const void *ctx, uint32_t term)
{
	const struct cell *c = ctx;

	return c->from && member_of(c, c->from, term);
}

struct firewall_packet fate_packet(struct cell *c, uint32_t proto,
				   uint16_t port)
{
	struct firewall_packet p = {.to = is_to, .from = is_from, .ctx = c};

	c->to = c->called;
	for (size_t i = 0; i < FIREWALL_KEYS; i++)
		p.v[i] = FIREWALL_NONE;
	p.v[FIREWALL_IIF] = FIREWALL_AGENT;
	p.v[FIREWALL_OIF] = FIREWALL_UPLINK;
	p.v[FIREWALL_FAMILY] = c->to->addr.family;
	p.v[FIREWALL_PROTO] = proto;
	p.v[FIREWALL_STATE] = FIREWALL_NEW;
	p.v[FIREWALL_STATUS] = 0;
	p.v[FIREWALL_DIRECTION] = FIREWALL_ORIGINAL;
	p.v[FIREWALL_PKTTYPE] = FIREWALL_TO_US;
	p.v[FIREWALL_MARK] = 0;
	p.v[FIREWALL_HOPS] = 64;
	p.v[FIREWALL_SOCKET] = 0;
	p.v[FIREWALL_FLOOD] = 0;
	p.v[FIREWALL_ROUTING] = 0;
	if (c->to->addr.family == ADDR_V4)
		p.v[FIREWALL_HEADER] = 5;
	if (proto == 6 || proto == 17)
		p.v[FIREWALL_DPORT] = port;
	return p;
}

static const struct firewall_rule *last_rule(const struct firewall_result *r)
{
	return r->n ? r->steps[r->n - 1] : NULL;
}

/* Of several, the one that says more than where to go on. */
static const struct firewall_rule *telling_rule(const struct firewall_result *r)
{
	for (uint32_t i = r->n; i > 0; i--)
		if (r->steps[i - 1]->matches.n || r->steps[i - 1]->reason.n)
			return r->steps[i - 1];
	return last_rule(r);
}

static struct fate stopped(const struct firewall_result *r)
{
	const struct firewall_rule *by = last_rule(r);

	/* What refuses is a chain of its own: who led there says why. */
	for (uint32_t i = 0; i < r->n; i++)
		if (r->steps[i]->end == FIREWALL_GOTO && r->steps[i]->reason.n)
			by = r->steps[i];
	return (struct fate){r->end == FIREWALL_DROP ? FATE_DROPPED
						     : FATE_REFUSED,
			     r->reason, 0, by};
}

/* Is it one of the gate's own, so that the packet is taken in? */
static bool is_local(const struct cell *c, const struct spot *to)
{
	if (c->ours && to == c->called)
		return true;
	for (size_t i = 0; i < ARRAY_LEN(c->p->gate); i++)
		if (addr_eq(&to->addr, &c->p->gate[i].addr))
			return true;
	return addr_is_machine(&to->addr) &&
	       ir_allows_machine(c->p->in->policy);
}

/* sent: to a socket of HAProxy's, at port; 0: one that is open. */
static struct fate taken_in(struct cell *c, struct firewall_packet *packet,
			    bool sent, uint32_t port,
			    const struct firewall_rule *by)
{
	struct firewall_result r = {0};
	bool asks;

	packet->v[FIREWALL_OIF] = FIREWALL_NONE;
	firewall_run(&c->p->firewall, FIREWALL_INPUT, packet, &r);
	if (r.end != FIREWALL_ACCEPT)
		return stopped(&r);
	if (sent)
		return (struct fate){FATE_TAKEN, r.reason, port, by};
	asks = packet->v[FIREWALL_DPORT] == 53 &&
	       !addr_is_machine(&c->to->addr);
	return (struct fate){asks ? FATE_RESOLVER : FATE_PASSES, r.reason, 0,
			     telling_rule(&r)};
}

static struct fate passed_on(struct cell *c, struct firewall_packet *packet)
{
	struct firewall_result r = {0}, last = {0};

	firewall_run(&c->p->firewall, FIREWALL_FORWARD, packet, &r);
	if (r.end != FIREWALL_ACCEPT)
		return stopped(&r);
	firewall_run(&c->p->firewall, FIREWALL_POSTROUTING, packet, &last);
	/* Under the agent's own address nothing comes back. */
	if (packet->v[FIREWALL_OIF] == FIREWALL_UPLINK &&
	    packet->v[FIREWALL_STATE] == FIREWALL_NEW &&
	    last.end != FIREWALL_MASQUERADE)
		return (struct fate){FATE_DROPPED, STR("not masqueraded"), 0,
				     last_rule(&last)};
	return (struct fate){FATE_PASSES, r.reason, 0, telling_rule(&r)};
}

struct fate fate_of(struct cell *c, struct firewall_packet *packet)
{
	size_t family = family_at(c->called->addr.family);
	struct firewall_result r = {0};
	uint32_t port = 0;
	bool taken = false;

	firewall_run(&c->p->firewall, FIREWALL_PREROUTING, packet, &r);
	switch (r.end) {
	case FIREWALL_DROP:
	case FIREWALL_REJECT:
		return stopped(&r);
	case FIREWALL_REDIRECT:
		packet->v[FIREWALL_DPORT] = port = r.port;
		taken = true;
		packet->v[FIREWALL_STATUS] = FIREWALL_DNAT;
		c->to = &c->p->gate[family];
		break;
	case FIREWALL_TO_AGENT:
		packet->v[FIREWALL_STATUS] = FIREWALL_DNAT;
		c->to = &c->p->agent[family];
		packet->v[FIREWALL_OIF] = FIREWALL_AGENT;
		break;
	case FIREWALL_ACCEPT:
		/* The mark routes it in; the socket is the one that tproxy
		 * chose. */
		taken = packet->v[FIREWALL_MARK] == GATE_MARK_TPROXY;
		port = taken ? r.port : 0;
		break;
	case FIREWALL_GOES_ON:
	case FIREWALL_JUMP:
	case FIREWALL_GOTO:
	case FIREWALL_MASQUERADE:
		break;
	}
	if (taken || is_local(c, c->to))
		return taken_in(c, packet, taken, port, last_rule(&r));
	return passed_on(c, packet);
}

struct fate fate_sent(struct cell *c, struct firewall_packet *packet)
{
	struct firewall_result r = {0};

	packet->v[FIREWALL_IIF] = FIREWALL_NONE;
	firewall_run(&c->p->firewall, FIREWALL_OUTPUT, packet, &r);
	if (r.end != FIREWALL_ACCEPT)
		return stopped(&r);
	return (struct fate){FATE_PASSES, r.reason, 0, telling_rule(&r)};
}

struct str fate_text(struct arena *a, const struct fate *f)
{
	switch (f->end) {
	case FATE_DROPPED:
		return f->reason.n ? arena_fmt(a, "dropped (%.*s)",
					       STR_ARG(f->reason))
				   : STR("dropped");
	case FATE_REFUSED:
		return f->reason.n ? arena_fmt(a, "refused (%.*s)",
					       STR_ARG(f->reason))
				   : STR("refused");
	case FATE_PASSES:
		return f->reason.n ? STR("let through")
				   : STR("let through, unrecorded");
	case FATE_TAKEN:
		return arena_fmt(a, "sent to HAProxy, port %u", f->port);
	case FATE_RESOLVER:
		return STR("taken by the resolver");
	}
	abort();
}
