#include "runtime/gate/dns/dns_flight.h"

#include "compiler/base/agent_link.h"
#include "compiler/base/standin_nets.h"

#include <string.h>

#define HEADER_BYTES 12u /* of a message, RFC 1035, 4.1.1 */
#define FLAG_TC	     2u	 /* in its third byte */

/* What is only asked about keeps its stand-in for so long; its clients do not,
 * so that they hear soon of what it is granted. */
#define ASKED_KEPT_S 900u
#define ASKED_TTL_S  10u

_Static_assert(ASKED_KEPT_S * 1000 < STANDINS_KEEP_MS,
	       "nobody is sent to another name");

/* --- what is told -------------------------------------------------------- */

static bool is_agents(const struct dns_flight *f)
{
	return f->from == DNS_FROM_UDP || f->from == DNS_FROM_TCP;
}

/* The agent's, by itself or by a connection. */
static bool is_for_agent(const struct dns_flight *f)
{
	return is_agents(f) || f->from == DNS_FROM_PROXY;
}

static void tell_decision(struct dns_gate *g, const struct dns_flight *f,
			  bool allow, enum reason reason,
			  const struct addr *addr)
{
	char type[16], name[DNS_MSG_NAME_TEXT_MAX];
	struct record r = {
		.kind = RECORD_RESOLVE,
		.allow = allow,
		.reason = reason,
		.addr = addr,
		.names = {name},
		.n_names = f->q.has_question,
		.type = f->q.has_question ? dns_msg_type_text(f->q.type, type)
					  : NULL,
	};

	dns_msg_name_text(&f->q, name);
	if (f->match.n_lines)
		r.id = f->match.lines[0]->id;
	g->on_record(g->data, &r);
}

/* --- answers ------------------------------------------------------------- */

/*
 * What the agent is told, and by which socket. why: REASON_GRANTED, or why it
 * gets nothing.
 */
static void tell_answer(struct dns_gate *g, const struct dns_flight *f,
			const uint8_t *msg, size_t n, enum reason why,
			const struct dns_answer *answer)
{
	bool tcp = f->from == DNS_FROM_TCP;
	const struct dns_client *c = &g->clients[f->client];
	struct sockaddr_storage server = {0};
	socklen_t size = sizeof(server);
	struct record_answer r = {
		.tcp = tcp,
		.client = tcp ? &c->peer : &f->peer,
		.server = &server,
		.q = &f->q,
		.bytes = n,
		.refused = why != REASON_GRANTED,
		.reason = why,
		.answer = answer,
	};

	if (n < HEADER_BYTES || !is_agents(f))
		return;
	(void)getsockname(tcp ? c->fd : f->listener, (struct sockaddr *)&server,
			  &size);
	r.rcode = (ldns_pkt_rcode)(msg[3] & 15);
	r.cut = msg[2] & FLAG_TC;
	if (r.cut)
		r.answer = NULL;
	g->on_answer(g->data, &r);
}

void dns_flight_reply(struct dns_gate *g, const struct dns_flight *f,
		      ldns_pkt_rcode rcode, enum reason why,
		      const struct dns_answer *answer)
{
	uint8_t buf[DNS_MSG_UDP_MAX], *room;
	bool blocked = why == REASON_NO_GRANT || why == REASON_DENIED;
	struct dns_client *c;
	size_t n;

	switch (f->from) {
	case DNS_FROM_US:
	case DNS_FROM_ASK:
		return;
	case DNS_FROM_UDP:
	case DNS_FROM_PROXY:
		n = dns_msg_reply(&f->q, rcode, answer, blocked, buf,
				  f->q.udp_max);
		tell_answer(g, f, buf, n, why, answer);
		/* A full queue is a lost datagram: the client asks again. */
		if (n)
			ignore(sendto(f->listener, buf, n, MSG_DONTWAIT,
				      (const struct sockaddr *)&f->peer,
				      f->peer_n));
		return;
	case DNS_FROM_TCP:
		c = &g->clients[f->client];
		if (c->fd < 0 || c->generation != f->generation)
			return;
		room = dns_client_room(c);
		n = dns_msg_reply(&f->q, rcode, answer, blocked, room,
				  DNS_MSG_MAX);
		tell_answer(g, f, room, n, why, answer);
		dns_client_answer(c, n);
		return;
	}
}

void dns_flight_land(struct dns_gate *g, struct dns_flight *f)
{
	if (f->from == DNS_FROM_US)
		g->n_renewals--;
	g->n_live--;
	g->live[f - g->flights] = false;
}

static enum reason reason_of(enum names_verdict v)
{
	switch (v) {
	case NAMES_OPEN:
	case NAMES_COVERED:
		return REASON_GRANTED;
	case NAMES_FLOOR:
		return REASON_FLOOR;
	case NAMES_HOST:
		return REASON_HOST_ADDRESS;
	case NAMES_PRIVATE:
		return REASON_PRIVATE_ADDRESS;
	}
	return REASON_NO_GRANT;
}

/* HAProxy goes to an address for as long as it is a name's: pins.h. */
static uint32_t past_ttl_s(uint32_t ttl_s)
{
	return (ttl_s < NFTSET_TTL_MIN_S ? NFTSET_TTL_MIN_S : ttl_s) +
	       PINS_GRACE_MS / 1000;
}

/* One element per class; they stay within max because both bounds do. */
static size_t add_elems(struct nftset_elem *v, size_t n,
			const struct dns_msg_addr *a,
			const struct names_classes *classes)
{
	for (unsigned k = names_class_next(classes, 1); k;
	     k = names_class_next(classes, k + 1))
		v[n++] = (struct nftset_elem){a->addr, (uint16_t)k,
					      k == NAMES_CLASS_PAST
						      ? past_ttl_s(a->ttl_s)
						      : a->ttl_s};
	return n;
}

static void plan_renewal(struct dns_gate *g, const struct dns_flight *f,
			 uint32_t ttl_s, int64_t now_ms)
{
	struct resolved_name *n = resolved_name(g->seen, str_of(f->q.name));
	enum resolved_kind kind =
		f->q.type == LDNS_RR_TYPE_AAAA ? SEEN_AAAA : SEEN_A;

	if (ttl_s < NFTSET_TTL_MIN_S)
		ttl_s = NFTSET_TTL_MIN_S;
	/* Nine tenths; what is kept is renewed as was planned when it came. */
	if (!f->recalled || n->due_ms[kind] == 0)
		n->due_ms[kind] = now_ms + (int64_t)ttl_s * 900;
	n->used |= is_for_agent(f);
}

/* HAProxy learns which addresses the name has, but for those that no name may
 * open: what is granted as such of the floor. */
static bool tie_name(struct dns_gate *g, const struct dns_flight *f,
		     const struct dns_answer *a, int64_t now_ms)
{
	const struct addr *addrs[DNS_MSG_ADDRS_MAX];
	uint32_t ttl_s = NFTSET_TTL_MIN_S;
	struct err err;
	size_t n = 0;

	for (uint32_t i = 0; i < a->n_addrs; i++) {
		if (!a->addrs[i].leads)
			continue;
		addrs[n++] = &a->addrs[i].addr;
		if (a->addrs[i].ttl_s > ttl_s)
			ttl_s = a->addrs[i].ttl_s;
	}
	if (n == 0 ||
	    pins_add(g->pins, str_of(f->q.name), addrs, n,
		     now_ms + ttl_s * INT64_C(1000) + PINS_GRACE_MS, &err) == 0)
		return true;
	err_while(&err, "opening '%s' in HAProxy", f->q.name);
	g->on_error(g->data, err.text);
	return false;
}

/* Who goes on for HAProxy learns that they are gone to past the proxy. */
static bool let_past(struct dns_gate *g, const struct dns_flight *f,
		     const struct dns_answer *a, int64_t now_ms)
{
	for (uint32_t i = 0; f->match.past && i < a->n_addrs; i++) {
		const struct dns_msg_addr *m = &a->addrs[i];
		int64_t until_ms =
			now_ms + past_ttl_s(m->ttl_s) * INT64_C(1000);

		if (!m->leads ||
		    standins_pass(g->standins, &m->addr, now_ms, until_ms))
			continue;
		g->on_error(g->data,
			    "too many addresses are reached past the proxy");
		return false;
	}
	return true;
}

/*
 * Judge each address, and open those that may be reached. False when the
 * kernel did not take them.
 */
static bool open_addresses(struct dns_gate *g, const struct dns_flight *f,
			   struct dns_answer *a, int64_t now_ms)
{
	static struct nftset_elem elems[DNS_MSG_ADDRS_MAX * NAMES_CLASSES_MAX];
	uint32_t ttl_s = UINT32_MAX;
	struct names_classes classes;
	struct err err;
	size_t n = 0;

	for (uint32_t i = 0; i < a->n_addrs; i++) {
		struct dns_msg_addr *m = &a->addrs[i];
		enum names_verdict v = names_judge(
			g->names, &f->match, g->hosts, &m->addr, &classes);

		/* that is some name's that goes by the proxy */
		if (f->match.past && standin_nets_have(&m->addr))
			v = NAMES_FLOOR;
		m->keep = v == NAMES_OPEN || v == NAMES_COVERED;
		m->leads = v == NAMES_OPEN;
		if (v == NAMES_OPEN) {
			n = add_elems(elems, n, m, &classes);
			ttl_s = m->ttl_s < ttl_s ? m->ttl_s : ttl_s;
		}
		/* Of what was asked about the agent knows no address. */
		if (m->keep && f->from != DNS_FROM_ASK)
			resolved_addr(g->seen, str_of(f->q.name), &m->addr);
		if (!m->keep && is_for_agent(f))
			tell_decision(g, f, false, reason_of(v), &m->addr);
	}
	if (!let_past(g, f, a, now_ms) || !tie_name(g, f, a, now_ms))
		return false;
	if (n == 0)
		return true;
	if (g->sets && nftset_add(g->sets, elems, n, now_ms, &err) < 0) {
		err_while(&err, "opening '%s'", f->q.name);
		g->on_error(g->data, err.text);
		return false;
	}
	plan_renewal(g, f, ttl_s, now_ms);
	return true;
}

/* To who waits for it: the first that may be reached. */
static void tell_found(struct dns_gate *g, const struct dns_flight *f,
		       const struct dns_answer *a)
{
	const struct addr *found = NULL;

	if (f->from != DNS_FROM_ASK)
		return;
	for (uint32_t i = 0; a && !found && i < a->n_addrs; i++)
		if (a->addrs[i].leads)
			found = &a->addrs[i].addr;
	g->on_found(g->data, f->q.name, f->match.private_ok, found);
}

/* False when they could not be opened: SERVFAIL. */
static bool answer_addresses(struct dns_gate *g, struct dns_flight *f,
			     struct dns_answer *a, int64_t now_ms)
{
	const struct addr *first = NULL;

	if (!open_addresses(g, f, a, now_ms)) {
		dns_flight_reply(g, f, LDNS_RCODE_SERVFAIL, REASON_UPSTREAM,
				 NULL);
		tell_found(g, f, NULL);
		return false;
	}
	for (uint32_t i = a->n_addrs; i-- > 0;)
		if (a->addrs[i].keep)
			first = &a->addrs[i].addr;
	dns_flight_reply(g, f, a->rcode, REASON_GRANTED, a);
	/* Of what is only asked about nothing is decided yet. */
	if (is_agents(f) && f->match.n_lines && (first || a->n_addrs == 0))
		tell_decision(g, f, true, REASON_GRANTED, first);
	tell_found(g, f, a);
	return true;
}

void dns_flight_use(struct dns_gate *g, struct dns_flight *f,
		    struct dns_answer *a, int64_t now_ms)
{
	if (answer_addresses(g, f, a, now_ms) && !f->outdated)
		answers_take(&g->kept, &f->q, a, now_ms);
	dns_flight_land(g, f);
}

bool dns_flight_recall(struct dns_gate *g, struct dns_flight *f, int64_t now_ms)
{
	struct dns_answer a;

	if (!answers_find(&g->kept, &f->q, now_ms, &a))
		return false;
	f->recalled = true;
	(void)answer_addresses(g, f, &a, now_ms);
	return true;
}

void dns_flight_fail(struct dns_gate *g, struct dns_flight *f)
{
	dns_flight_reply(g, f, LDNS_RCODE_SERVFAIL, REASON_UPSTREAM, NULL);
	if (is_for_agent(f))
		tell_decision(g, f, false, REASON_UPSTREAM, NULL);
	tell_found(g, f, NULL);
	dns_flight_land(g, f);
}

/* --- its way ------------------------------------------------------------- */

struct dns_flight *dns_flight_new(struct dns_gate *g)
{
	for (size_t i = 0; i < DNS_GATE_FLIGHTS; i++) {
		struct dns_flight *f = &g->flights[i];

		if (g->live[i])
			continue;
		memset(f, 0, offsetof(struct dns_flight, up));
		/* Here: to begin with no page of them takes memory. */
		upstream_init(&f->up, g->broker);
		return f;
	}
	return NULL;
}

void dns_flight_launch(struct dns_gate *g, struct dns_flight *f, int64_t now_ms)
{
	g->live[f - g->flights] = true;
	g->n_live++;
	if (f->from == DNS_FROM_US)
		g->n_renewals++;
	if (upstream_ask(&f->up, &g->names->upstream_addr,
			 g->names->upstream_port, &f->q,
			 now_ms) == UPSTREAM_FAILED)
		dns_flight_fail(g, f);
}

void dns_flight_refuse(struct dns_gate *g, struct dns_flight *f,
		       ldns_pkt_rcode rcode, enum reason reason)
{
	dns_flight_reply(g, f, rcode, reason, NULL);
	/* Of a connection's name HAProxy says the same. */
	if (f->from != DNS_FROM_PROXY)
		tell_decision(g, f, false, reason, NULL);
}

void dns_flight_stand_in(struct dns_gate *g, struct dns_flight *f,
			 int64_t now_ms)
{
	struct dns_answer answer;
	struct addr addr;

	if (f->q.type != LDNS_RR_TYPE_A) {
		dns_flight_reply(g, f, LDNS_RCODE_NOERROR, REASON_GRANTED,
				 NULL);
		return;
	}
	if (!standins_take(g->standins, str_of(f->q.name), now_ms, &addr)) {
		dns_flight_refuse(g, f, LDNS_RCODE_SERVFAIL,
				  REASON_NO_STAND_IN);
		return;
	}
	dns_msg_known(&f->q, &addr,
		      f->match.n_lines ? NFTSET_TTL_MIN_S : ASKED_TTL_S,
		      &answer);
	if (!f->match.n_lines)
		answer.addrs[0].ttl_s = ASKED_KEPT_S;
	(void)answer_addresses(g, f, &answer, now_ms);
	dns_msg_done(&answer);
}

void dns_flight_door(struct dns_gate *g, const struct dns_flight *f)
{
	bool six = f->q.type == LDNS_RR_TYPE_AAAA;
	struct dns_answer answer;

	for (uint32_t i = 0; i < g->n_door; i++) {
		if ((g->door[i].family == ADDR_V6) != six ||
		    (!six && f->q.type != LDNS_RR_TYPE_A))
			continue;
		dns_msg_known(&f->q, &g->door[i], NFTSET_TTL_MIN_S, &answer);
		dns_flight_reply(g, f, LDNS_RCODE_NOERROR, REASON_GRANTED,
				 &answer);
		tell_decision(g, f, true, REASON_GRANTED, &g->door[i]);
		dns_msg_done(&answer);
		return;
	}
	dns_flight_reply(g, f, LDNS_RCODE_NOERROR, REASON_GRANTED, NULL);
}

void dns_flight_machine(struct dns_gate *g, const struct dns_flight *f)
{
	struct dns_answer answer;
	struct addr addr;

	if (f->q.type != LDNS_RR_TYPE_A ||
	    !addr_parse(STR(LINK_MACHINE_V4), &addr)) {
		dns_flight_reply(g, f, LDNS_RCODE_NOERROR, REASON_GRANTED,
				 NULL);
		return;
	}
	dns_msg_known(&f->q, &addr, NFTSET_TTL_MIN_S, &answer);
	resolved_addr(g->seen, STR(LINK_MACHINE_NAME), &addr);
	dns_flight_reply(g, f, LDNS_RCODE_NOERROR, REASON_GRANTED, &answer);
	tell_decision(g, f, true, REASON_GRANTED, &addr);
	dns_msg_done(&answer);
}
