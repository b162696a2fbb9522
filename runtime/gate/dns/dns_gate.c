#include "runtime/gate/dns/dns_gate.h"

#include "compiler/base/agent_link.h"
#include "runtime/gate/dns/dns_flight.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#define UDP_READS_MAX 32u /* questions before others get their turn */
#define BACKLOG	      16
#define QUEUE_BYTES   (1 << 20)
#define HEADER_BYTES  12u /* of a message, RFC 1035, 4.1.1 */
#define FLAG_TC	      2u  /* in its third byte */

static int listen_on(const char *text, int type, int *out, struct err *err)
{
	struct sockaddr_storage sa = {0};
	struct sockaddr_in6 *v6 = (void *)&sa;
	struct sockaddr_in *v4 = (void *)&sa;
	auto_fd int fd = -1;
	struct addr a;
	int on = 1, queue = QUEUE_BYTES;

	if (!addr_parse(str_of(text), &a))
		return err_set(err, -EINVAL, "address '%s'", text);
	if (a.family == ADDR_V6) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons(DNS_GATE_PORT);
		memcpy(&v6->sin6_addr, a.b, 16);
	} else {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(DNS_GATE_PORT);
		memcpy(&v4->sin_addr, a.b, 4);
	}
	fd = socket(sa.ss_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    bind(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 ||
	    (type == SOCK_STREAM && listen(fd, BACKLOG) < 0))
		return err_set(err, -errno, "resolver on %s: %s", text,
			       strerror(errno));
	/* For bursts; the default will do. */
	if (type == SOCK_DGRAM)
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &queue,
				 sizeof(queue));
	*out = fd;
	fd = -1;
	return 0;
}

static int listen_both(const struct dns_gate_ends *ends, int out[2],
		       struct addr *agent, struct err *err)
{
	int rc;

	if (!addr_parse(str_of(ends->agent), agent))
		return err_set(err, -EINVAL, "address '%s'", ends->agent);
	rc = listen_on(ends->gate, SOCK_DGRAM, &out[0], err);
	return rc < 0 ? rc : listen_on(ends->gate, SOCK_STREAM, &out[1], err);
}

int dns_gate_open(struct dns_gate *g, const struct dns_gate_ends *v4,
		  const struct dns_gate_ends *v6, struct err *err)
{
	int rc;

	for (size_t i = 0; i < DNS_GATE_LISTENERS; i++)
		g->listeners[i] = -1;
	for (size_t i = 0; i < DNS_GATE_CLIENTS; i++)
		dns_client_init(&g->clients[i]);
	for (size_t i = 0; i < DNS_GATE_FLIGHTS; i++)
		upstream_init(&g->flights[i].up);
	rc = listen_both(v4, g->listeners, &g->agent4, err);
	if (rc < 0 || !v6)
		return rc;
	return listen_both(v6, g->listeners + 2, &g->agent6, err);
}

/* The packet filter says so, too; here an answer would leave. */
static bool is_agent(const struct dns_gate *g,
		     const struct sockaddr_storage *peer)
{
	const struct sockaddr_in6 *v6 = (const void *)peer;
	const struct sockaddr_in *v4 = (const void *)peer;

	if (peer->ss_family == AF_INET6)
		return memcmp(&v6->sin6_addr, g->agent6.b, 16) == 0;
	return peer->ss_family == AF_INET &&
	       memcmp(&v4->sin_addr, g->agent4.b, 4) == 0;
}

/* --- what is told -------------------------------------------------------- */

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

	if (n < HEADER_BYTES)
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
	struct dns_client *c;
	size_t n;

	switch (f->from) {
	case DNS_FROM_US:
		return;
	case DNS_FROM_UDP:
		n = dns_msg_reply(&f->q, rcode, answer, buf, f->q.udp_max);
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
		n = dns_msg_reply(&f->q, rcode, answer, room, DNS_MSG_MAX);
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
	f->live = false;
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

/* One element per class; they stay within max because both bounds do. */
static size_t add_elems(struct nftset_elem *v, size_t n,
			const struct dns_msg_addr *a,
			const struct names_classes *classes)
{
	for (unsigned k = names_class_next(classes, 1); k;
	     k = names_class_next(classes, k + 1))
		v[n++] = (struct nftset_elem){a->addr, (uint16_t)k, a->ttl_s};
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
	n->due_ms[kind] = now_ms + (int64_t)ttl_s * 900; /* nine tenths */
	n->used |= f->from != DNS_FROM_US;
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

		m->keep = v == NAMES_OPEN || v == NAMES_COVERED;
		m->leads = v == NAMES_OPEN;
		if (v == NAMES_OPEN) {
			n = add_elems(elems, n, m, &classes);
			ttl_s = m->ttl_s < ttl_s ? m->ttl_s : ttl_s;
		}
		if (m->keep)
			resolved_addr(g->seen, str_of(f->q.name), &m->addr);
		else if (f->from != DNS_FROM_US)
			tell_decision(g, f, false, reason_of(v), &m->addr);
	}
	if (!tie_name(g, f, a, now_ms))
		return false;
	if (n == 0)
		return true;
	if (nftset_add(g->sets, elems, n, now_ms, &err) < 0) {
		err_while(&err, "opening '%s'", f->q.name);
		g->on_error(g->data, err.text);
		return false;
	}
	plan_renewal(g, f, ttl_s, now_ms);
	return true;
}

void dns_flight_use(struct dns_gate *g, struct dns_flight *f,
		    struct dns_answer *a, int64_t now_ms)
{
	const struct addr *first = NULL;

	if (!open_addresses(g, f, a, now_ms)) {
		dns_flight_reply(g, f, LDNS_RCODE_SERVFAIL, REASON_UPSTREAM,
				 NULL);
		dns_flight_land(g, f);
		return;
	}
	for (uint32_t i = a->n_addrs; i-- > 0;)
		if (a->addrs[i].keep)
			first = &a->addrs[i].addr;
	dns_flight_reply(g, f, a->rcode, REASON_GRANTED, a);
	if (f->from != DNS_FROM_US && (first || a->n_addrs == 0))
		tell_decision(g, f, true, REASON_GRANTED, first);
	dns_flight_land(g, f);
}

void dns_flight_fail(struct dns_gate *g, struct dns_flight *f)
{
	dns_flight_reply(g, f, LDNS_RCODE_SERVFAIL, REASON_UPSTREAM, NULL);
	if (f->from != DNS_FROM_US)
		tell_decision(g, f, false, REASON_UPSTREAM, NULL);
	dns_flight_land(g, f);
}

/* --- questions ----------------------------------------------------------- */

struct dns_flight *dns_flight_new(struct dns_gate *g)
{
	for (size_t i = 0; i < DNS_GATE_FLIGHTS; i++) {
		struct dns_flight *f = &g->flights[i];

		if (f->live)
			continue;
		memset(f, 0, offsetof(struct dns_flight, up));
		return f;
	}
	return NULL;
}

void dns_flight_launch(struct dns_gate *g, struct dns_flight *f, int64_t now_ms)
{
	f->live = true;
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
	tell_decision(g, f, false, reason, NULL);
}

/* The machine that runs membrane: nobody has to be asked. */
static void answer_machine(struct dns_gate *g, const struct dns_flight *f)
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

/*
 * One message of the agent. f says where it came from; its slot is taken only
 * if the question is forwarded.
 */
static void put_question(struct dns_gate *g, struct dns_flight *f,
			 const uint8_t *wire, size_t n, int64_t now_ms)
{
	const struct names_line *denied;
	ldns_pkt_rcode rcode;

	switch (dns_msg_query(wire, n, &f->q, &rcode)) {
	case DNS_MSG_DROP:
		if (f->from == DNS_FROM_TCP)
			dns_client_close(&g->clients[f->client]);
		return;
	case DNS_MSG_REFUSE:
		dns_flight_refuse(g, f, rcode, REASON_BAD_QUERY);
		return;
	case DNS_MSG_ASK:
		break;
	}
	denied = names_denied(g->names, str_of(f->q.name));
	if (denied) {
		f->match.lines[0] = denied;
		f->match.n_lines = 1;
		dns_flight_refuse(g, f, LDNS_RCODE_NXDOMAIN, REASON_DENIED);
		return;
	}
	if (!f->q.name[0] ||
	    !names_match(g->names, str_of(f->q.name), &f->match)) {
		dns_flight_refuse(g, f, LDNS_RCODE_NXDOMAIN, REASON_NO_GRANT);
		return;
	}
	if (!dns_msg_type_served(f->q.type)) {
		dns_flight_refuse(g, f, LDNS_RCODE_NOTIMPL, REASON_QUERY_TYPE);
		return;
	}
	if (addr_names_machine(str_of(f->q.name))) {
		answer_machine(g, f);
		return;
	}
	if (f->q.type == LDNS_RR_TYPE_AAAA && !g->ipv6) {
		dns_flight_reply(g, f, LDNS_RCODE_NOERROR, REASON_GRANTED,
				 NULL);
		return;
	}
	dns_flight_launch(g, f, now_ms);
}

void dns_gate_changed(struct dns_gate *g)
{
	for (size_t i = 0; i < DNS_GATE_FLIGHTS; i++) {
		struct dns_flight *f = &g->flights[i];
		const struct names_line *denied;

		if (!f->live)
			continue;
		denied = names_denied(g->names, str_of(f->q.name));
		if (!denied &&
		    names_match(g->names, str_of(f->q.name), &f->match))
			continue;
		f->match = (struct names_match){.n_lines = denied ? 1 : 0};
		f->match.lines[0] = denied;
		upstream_stop(&f->up);
		if (f->from != DNS_FROM_US)
			dns_flight_refuse(g, f, LDNS_RCODE_NXDOMAIN,
					  denied ? REASON_DENIED
						 : REASON_NO_GRANT);
		dns_flight_land(g, f);
	}
	g->next_exact = 0;
	g->next_aaaa = false;
}

static void read_udp(struct dns_gate *g, int fd, int64_t now_ms)
{
	uint8_t buf[DNS_MSG_QUERY_MAX + 1];

	for (unsigned i = 0; i < UDP_READS_MAX; i++) {
		struct dns_flight *f = dns_flight_new(g);
		struct sockaddr_storage peer = {0};
		socklen_t peer_n = sizeof(peer);
		ssize_t n;

		if (!f)
			return; /* the rest waits in the socket's queue */
		n = recvfrom(fd, buf, sizeof(buf), MSG_DONTWAIT,
			     (struct sockaddr *)&peer, &peer_n);
		if (n < 0)
			return;
		if (!is_agent(g, &peer))
			continue;
		f->from = DNS_FROM_UDP;
		f->listener = fd;
		f->peer = peer;
		f->peer_n = peer_n;
		put_question(g, f, buf, (size_t)n, now_ms);
	}
}

static void accept_client(struct dns_gate *g, int fd, int64_t now_ms)
{
	struct sockaddr_storage peer = {0};
	socklen_t size = sizeof(peer);
	int got = accept4(fd, (struct sockaddr *)&peer, &size,
			  SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (got < 0)
		return;
	for (size_t i = 0; is_agent(g, &peer) && i < DNS_GATE_CLIENTS; i++) {
		if (g->clients[i].fd >= 0)
			continue;
		dns_client_open(&g->clients[i], got, &peer, now_ms);
		return;
	}
	close(got);
}

static void take_client(struct dns_gate *g, struct dns_client *c,
			int64_t now_ms)
{
	uint8_t wire[DNS_MSG_QUERY_MAX];
	size_t n = dns_client_asks(c);
	struct dns_flight *f;

	if (n == 0)
		return;
	f = dns_flight_new(g);
	if (!f)
		return; /* when one lands, every client gets its turn */
	dns_client_take(c, wire, n);
	f->from = DNS_FROM_TCP;
	f->client = (uint32_t)(c - g->clients);
	f->generation = c->generation;
	put_question(g, f, wire, n, now_ms);
}

/* --- our own questions --------------------------------------------------- */

/* Ask for a name of our own accord; false when there is no room now. */
static bool renew_name(struct dns_gate *g, const char *name, uint16_t type,
		       int64_t now_ms)
{
	struct dns_flight *f;

	if (addr_names_machine(str_of(name)))
		return true;
	if (g->n_renewals >= DNS_GATE_RENEWALS)
		return false;
	f = dns_flight_new(g);
	if (!f)
		return false;
	f->from = DNS_FROM_US;
	if (dns_msg_query_for(name, type, &f->q) &&
	    !names_denied(g->names, str_of(name)) &&
	    names_match(g->names, str_of(name), &f->match))
		dns_flight_launch(g, f, now_ms);
	return true;
}

static void resolve_exact(struct dns_gate *g, int64_t now_ms)
{
	while (g->next_exact < g->names->n_exact &&
	       g->next_exact < DNS_GATE_NAMES) {
		struct str name = g->names->exact[g->next_exact].name;
		char text[LIMIT_NAME_BYTES + 1];

		snprintf(text, sizeof(text), "%.*s", STR_ARG(name));
		if (!renew_name(g, text,
				g->next_aaaa ? LDNS_RR_TYPE_AAAA
					     : LDNS_RR_TYPE_A,
				now_ms))
			return;
		if (g->ipv6 && !g->next_aaaa) {
			g->next_aaaa = true;
			continue;
		}
		g->next_aaaa = false;
		g->next_exact++;
	}
}

static void renew_used(struct dns_gate *g, int64_t now_ms)
{
	static const uint16_t types[RESOLVED_KINDS] = {LDNS_RR_TYPE_A,
						       LDNS_RR_TYPE_AAAA};

	for (size_t i = 0; i < RESOLVED_NAMES; i++) {
		struct resolved_name *n = &g->seen->names[i];
		bool any = false;

		for (size_t k = 0; n->name[0] && k < RESOLVED_KINDS; k++) {
			if (n->due_ms[k] == 0 || n->due_ms[k] > now_ms)
				continue;
			if (n->used &&
			    !renew_name(g, n->name, types[k], now_ms))
				return;
			n->due_ms[k] = 0;
			any = true;
		}
		/* Both kinds fall due together or not at all, near enough. */
		if (any)
			n->used = false;
	}
}

/* --- the loop's side ----------------------------------------------------- */

void dns_gate_poll(struct dns_gate *g, struct pollfd *p)
{
	bool room = g->n_live < DNS_GATE_FLIGHTS;

	for (size_t i = 0; i < DNS_GATE_LISTENERS; i++)
		*p++ = (struct pollfd){room ? g->listeners[i] : -1, POLLIN, 0};
	for (size_t i = 0; i < DNS_GATE_CLIENTS; i++)
		*p++ = dns_client_poll(&g->clients[i]);
	for (size_t i = 0; i < DNS_GATE_FLIGHTS; i++)
		*p++ = (struct pollfd){
			g->flights[i].live ? g->flights[i].up.fd : -1,
			upstream_poll_events(&g->flights[i].up), 0};
}

static void step_flight(struct dns_gate *g, struct dns_flight *f, bool ready,
			int64_t now_ms)
{
	struct dns_answer a;

	switch (upstream_step(&f->up, &g->names->upstream_addr,
			      g->names->upstream_port, &f->q, ready, now_ms,
			      &a)) {
	case UPSTREAM_WAIT:
		return;
	case UPSTREAM_FAILED:
		dns_flight_fail(g, f);
		return;
	case UPSTREAM_ANSWER:
		dns_flight_use(g, f, &a, now_ms);
		dns_msg_done(&a);
		return;
	}
}

void dns_gate_step(struct dns_gate *g, const struct pollfd *p, int64_t now_ms)
{
	const struct pollfd *clients = p + DNS_GATE_LISTENERS;
	const struct pollfd *flights = clients + DNS_GATE_CLIENTS;

	/* Entries are for what was there before poll: the oldest news first. */
	for (size_t i = 0; i < DNS_GATE_FLIGHTS; i++)
		if (g->flights[i].live && flights[i].fd == g->flights[i].up.fd)
			step_flight(g, &g->flights[i], flights[i].revents != 0,
				    now_ms);
	for (size_t i = 0; i < DNS_GATE_CLIENTS; i++) {
		struct dns_client *c = &g->clients[i];

		if (c->fd < 0 || clients[i].fd != c->fd)
			continue;
		dns_client_step(c, clients[i].revents, now_ms);
		take_client(g, c, now_ms);
	}
	for (size_t i = 0; i < DNS_GATE_LISTENERS; i++) {
		if (!p[i].revents)
			continue;
		if (i % 2)
			accept_client(g, p[i].fd, now_ms);
		else
			read_udp(g, p[i].fd, now_ms);
	}
	resolve_exact(g, now_ms);
	if (now_ms >= g->tick_ms) {
		renew_used(g, now_ms);
		g->tick_ms = now_ms + DNS_GATE_TICK_MS;
	}
}

int dns_gate_wait_ms(const struct dns_gate *g, int64_t now_ms)
{
	int64_t left_ms = g->tick_ms - now_ms;

	for (size_t i = 0; g->n_live && i < DNS_GATE_FLIGHTS; i++) {
		int64_t flight_ms = g->flights[i].up.deadline_ms - now_ms;

		if (g->flights[i].live && flight_ms < left_ms)
			left_ms = flight_ms;
	}
	return left_ms < 0 ? 0 : (int)left_ms;
}
