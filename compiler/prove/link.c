/*
 * What holds on the links, whatever is granted: who may send, what else than
 * TCP and UDP goes where, what comes from the world, what the gate sends.
 */
#include "compiler/prove/parts.h"

#include "compiler/base/buf.h"
#include "compiler/ir/upstream.h"
#include "compiler/plan/gate.h"

#define TCP   6u
#define UDP   17u
#define ICMP  1u
#define ICMP6 58u
#define SCTP  132u

struct shot {
	struct proof *p;
	struct cell c;
	const char *what; /* "tcp from 203.0.113.1" */
	uint32_t proto;
	uint16_t port;
};

static const char *proto_name(uint32_t proto)
{
	return proto == TCP	? "tcp"
	       : proto == UDP	? "udp"
	       : proto == ICMP	? "icmp"
	       : proto == ICMP6 ? "icmpv6"
	       : proto == SCTP	? "sctp"
				: "a protocol of its own";
}

static bool must(struct shot *s, bool so, const struct fate *got,
		 const char *wanted)
{
	struct arena *a = s->p->a;
	char to[ADDR_TEXT_MAX], from[ADDR_TEXT_MAX];

	s->p->out->cells++;
	if (so)
		return true;
	proof_differs(
		s->p,
		arena_fmt(a, "%s: %s from %s to %s, port %u", s->what,
			  proto_name(s->proto),
			  s->c.from ? addr_text(&s->c.from->addr, from) : "us",
			  addr_text(&s->c.called->addr, to), s->port),
		&(struct decision){.reason = REASON_PROTOCOL}, str_of(wanted),
		got);
	return false;
}

static bool is_let(const struct fate *f)
{
	return f->end != FATE_DROPPED && f->end != FATE_REFUSED;
}

/* A public address of the family, which nothing else speaks of. */
static const struct spot *public_spot(const struct proof *p, size_t family)
{
	vec_each(s, &p->spots)
		if (family_at(s->addr.family) == family &&
		    addr_scope(&s->addr) == ADDR_PUBLIC)
			return s;
	return &p->gate[family];
}

static struct shot shot_at(struct proof *p, const char *what,
			   const struct spot *from, const struct spot *to,
			   uint32_t proto, uint16_t port)
{
	return (struct shot){.p = p,
			     .c = {.p = p, .called = to, .from = from},
			     .what = what,
			     .proto = proto,
			     .port = port};
}

static struct firewall_packet packet_for(struct shot *s)
{
	return fate_packet(&s->c, s->proto, s->port);
}

/* --- the agent's side ---------------------------------------------------- */

/* Whoever writes another address than the agent's is not heard. */
static bool check_source(struct proof *p, const struct spot *from)
{
	size_t f = family_at(from->addr.family);

	if (addr_eq(&from->addr, &p->agent[f].addr))
		return true;
	for (int i = 0; i < 4; i++) {
		struct shot s =
			shot_at(p, "a forged source", from, public_spot(p, f),
				i % 2 ? UDP : TCP, i % 2 ? 53 : 443);
		struct firewall_packet packet = packet_for(&s);
		struct fate got;

		packet.v[FIREWALL_FLOOD] = i > 1;
		got = fate_of(&s.c, &packet);
		if (!must(&s, got.end == FATE_DROPPED, &got, "dropped"))
			return false;
	}
	return true;
}

/* "Nothing else (ICMP, SCTP, raw) ever." */
static bool check_protocols(struct proof *p, const struct spot *to)
{
	size_t f = family_at(to->addr.family);
	const uint32_t protos[] = {f ? ICMP6 : ICMP, SCTP, 47, 4, 0};

	for (size_t i = 0; i < ARRAY_LEN(protos); i++) {
		struct shot s = shot_at(p, "neither TCP nor UDP", &p->agent[f],
					to, protos[i], 0);
		struct firewall_packet packet = packet_for(&s);
		struct fate got;

		if (i == 0) /* an echo request */
			packet.v[FIREWALL_ICMP_TYPE] = f ? 128 : 8;
		got = fate_of(&s.c, &packet);
		if (!must(&s, !is_let(&got), &got, "refused"))
			return false;
	}
	return true;
}

/* What only routers read, who may send it to somebody else; and what was not
 * sent to the gate but to all. */
static bool check_shape(struct proof *p, const struct spot *to, uint16_t port)
{
	size_t f = family_at(to->addr.family);

	for (int i = 0; i < 4; i++) {
		struct shot s = shot_at(
			p, i > 1 ? "sent to all" : "options for routers",
			&p->agent[f], to, i % 2 ? UDP : TCP, port);
		struct firewall_packet packet = packet_for(&s);
		struct fate got;

		if (i > 1)
			packet.v[FIREWALL_PKTTYPE] = FIREWALL_TO_US + 1;
		else if (f)
			packet.v[FIREWALL_ROUTING] = 1;
		else
			packet.v[FIREWALL_HEADER] = 6;
		got = fate_of(&s.c, &packet);
		if (i > 1 ? !must(&s,
				  to != &p->gate[f] || port == 53 ||
					  got.end == FATE_DROPPED,
				  &got, "dropped")
			  : !must(&s, got.end != FATE_PASSES, &got, "refused"))
			return false;
	}
	return true;
}

/* --- the world's side ---------------------------------------------------- */

static bool is_published(const struct proof *p, uint32_t proto, uint16_t port)
{
	vec_each(x, &p->in->policy->docker_args)
		if (x->is_publish && port >= x->publish.lo &&
		    port <= x->publish.hi &&
		    (x->publish.proto == IR_PROTO_TCP) == (proto == TCP))
			return true;
	return false;
}

/* A packet that comes in from the uplink is let in, or it is not. */
static bool from_world(struct shot *s, bool answer, bool wanted)
{
	struct firewall_packet packet = packet_for(s);
	size_t f = family_at(s->c.called->addr.family);
	struct fate got;

	packet.v[FIREWALL_IIF] = FIREWALL_UPLINK;
	packet.v[FIREWALL_OIF] =
		addr_eq(&s->c.called->addr, &s->p->agent[f].addr)
			? FIREWALL_AGENT
			: FIREWALL_UPLINK;
	if (answer) {
		packet.v[FIREWALL_STATE] = FIREWALL_ESTABLISHED;
		packet.v[FIREWALL_DIRECTION] = FIREWALL_REPLY;
	}
	got = fate_of(&s->c, &packet);
	return must(s, is_let(&got) == wanted, &got,
		    wanted ? "let in" : "dropped");
}

/* Nobody begins anything with the agent but by what is published, and nobody
 * with the gate, whichever of its addresses is called. */
static bool check_world(struct proof *p, size_t f, uint32_t proto,
			uint16_t port)
{
	const struct spot *world = public_spot(p, f);
	const struct spot *const called[] = {world, &p->agent[f], &p->gate[f]};
	struct shot s;

	for (size_t i = 0; i < ARRAY_LEN(called); i++) {
		s = shot_at(p, "from the world", world, called[i], proto, port);
		s.c.ours = called[i] == world;
		if (!from_world(&s, false, is_published(p, proto, port)))
			return false;
	}
	s = shot_at(p, "an answer of the world's", world, &p->agent[f], proto,
		    port);
	return from_world(&s, true, true);
}

/* Nor does the gate pass on what the world sends to somebody else, be it
 * granted to the agent, as a network or by whatever name. */
static bool check_through(struct proof *p, const struct spot *to, uint16_t port)
{
	size_t f = family_at(to->addr.family);
	struct names_classes all;

	memset(&all, 0xff, sizeof(all));
	for (int i = 0; i < 2; i++) {
		uint32_t proto = i ? UDP : TCP;
		struct shot s = shot_at(p, "from the world, through the gate",
					public_spot(p, f), to, proto, port);

		s.c.tie[0] = &all;
		if (!from_world(&s, false, is_published(p, proto, port)))
			return false;
	}
	return true;
}

/* --- what the gate sends ------------------------------------------------- */

struct sender {
	uint32_t uid;
	enum filler peer;
};

static bool is_past(const struct proof *p, const struct spot *to)
{
	vec_each(d, &p->in->policy->upstream.direct) {
		const struct cidr *net = ir_dest_net(&d->dest);

		if (net && cidr_has(net, &to->addr))
			return true;
	}
	return false;
}

/* Beside a proxy nothing leaves but to it, past it, and questions. */
static bool may_send(const struct proof *p, const struct sender *by,
		     const struct spot *to, uint32_t proto, bool tied)
{
	const struct ir_policy *policy = p->in->policy;

	if (!policy->upstream.set)
		return true;
	if (by->uid == 0)
		return by->peer == FILLER_ASKED && upstream_asks(policy);
	if (by->uid != GATE_UPSTREAM_UID || proto != TCP)
		return false;
	return by->peer == FILLER_PROXY || is_past(p, to) ||
	       (tied && upstream_asks(policy));
}

static bool check_sent(struct proof *p, const struct spot *to,
		       const struct sender *by, uint32_t proto, bool tied)
{
	struct shot s = shot_at(p, "the gate's own", NULL, to, proto, 443);
	struct names_classes past = {0};
	bool wanted = may_send(p, by, to, proto, tied);

	past.w[(NAMES_CLASS_PAST - 1) / 64] |= UINT64_C(1)
					       << ((NAMES_CLASS_PAST - 1) % 64);
	s.c.peer = by->peer;
	s.c.tie[0] = tied ? &past : NULL;
	for (int i = 0; i < 3; i++) {
		struct firewall_packet packet = packet_for(&s);
		struct fate got;

		packet.v[FIREWALL_UID] = by->uid;
		if (i == 1)
			packet.v[FIREWALL_STATE] = FIREWALL_INVALID;
		if (i == 2) /* an answer: there is no service */
			packet.v[FIREWALL_DIRECTION] = FIREWALL_REPLY;
		got = fate_sent(&s.c, &packet);
		if (!must(&s, is_let(&got) == (wanted && i == 0), &got,
			  wanted && i == 0 ? "let out" : "dropped"))
			return false;
	}
	return true;
}

/* On the agent's link the gate speaks to the agent alone. */
static bool check_link(struct proof *p, const struct spot *to)
{
	struct shot s = shot_at(p, "the gate's own, on the agent's link", NULL,
				to, TCP, 443);
	size_t f = family_at(to->addr.family);
	struct firewall_packet packet = packet_for(&s);
	bool wanted = addr_eq(&to->addr, &p->agent[f].addr);
	struct fate got;

	packet.v[FIREWALL_OIF] = FIREWALL_AGENT;
	packet.v[FIREWALL_UID] = GATE_UPSTREAM_UID;
	packet.v[FIREWALL_DIRECTION] =
		wanted ? FIREWALL_REPLY : FIREWALL_ORIGINAL;
	got = fate_sent(&s.c, &packet);
	return must(&s, is_let(&got) == wanted, &got,
		    wanted ? "let out" : "dropped");
}

static bool check_output(struct proof *p, const struct spot *to)
{
	static const struct sender senders[] = {
		{0, FILLER_NOBODY},
		{0, FILLER_ASKED},
		{0, FILLER_PROXY},
		{GATE_UID, FILLER_NOBODY},
		{GATE_UID, FILLER_PROXY},
		{GATE_UPSTREAM_UID, FILLER_NOBODY},
		{GATE_UPSTREAM_UID, FILLER_ASKED},
		{GATE_UPSTREAM_UID, FILLER_PROXY},
	};

	for (size_t i = 0; i < ARRAY_LEN(senders); i++)
		for (int k = 0; k < 4; k++)
			if (!check_sent(p, to, &senders[i], k % 2 ? UDP : TCP,
					k > 1))
				return false;
	return check_link(p, to);
}

/* Which way does who is told of an address take? */
static bool check_way(struct proof *p, const struct spot *to)
{
	struct shot s = shot_at(p, "past the proxy", NULL, to, TCP, 443);
	bool want = is_past(p, to),
	     got = names_nets_have(&p->map.past, &to->addr);

	return must(&s, want == got,
		    &(struct fate){got ? FATE_PASSES : FATE_REFUSED,
				   STR("past"), 0, NULL},
		    want ? "let past" : "by the proxy");
}

bool link_packets(struct proof *p)
{
	vec_each(s, &p->spots) {
		if (!check_way(p, s))
			return false;
		if (!check_source(p, s) || !check_protocols(p, s) ||
		    !check_output(p, s))
			return false;
		vec_each(x, &p->ports)
			if (!check_shape(p, s, x->port) ||
			    !check_through(p, s, x->port))
				return false;
	}
	for (size_t f = 0; f < 2; f++)
		vec_each(x, &p->ports)
			if (!check_shape(p, &p->gate[f], x->port) ||
			    !check_world(p, f, TCP, x->port) ||
			    !check_world(p, f, UDP, x->port))
				return false;
	return true;
}
