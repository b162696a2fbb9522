#include "runtime/gate/dns/dns_gate.h"

#include "compiler/base/sys/sockaddr.h"
#include "runtime/gate/dns/dns_flight.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#define UDP_READS_MAX 32u /* questions before others get their turn */
#define BACKLOG	      16
#define LOOPBACK      "127.0.0.1"
#define QUEUE_BYTES   (1 << 20)

static int listen_on(const char *text, uint16_t port, int type, int *out,
		     struct err *err)
{
	struct sockaddr_storage sa;
	auto_fd int fd = -1;
	socklen_t size;
	struct addr a;
	int on = 1, queue = QUEUE_BYTES;

	if (!addr_parse(str_of(text), &a))
		return err_set(err, -EINVAL, "address '%s'", text);
	size = sockaddr_put(&a, port, &sa);
	fd = socket(sa.ss_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    (a.family == ADDR_V6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY,
					       &on, sizeof(on)) < 0) ||
	    bind(fd, (struct sockaddr *)&sa, size) < 0 ||
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

	if (ends->agent && !addr_parse(str_of(ends->agent), agent))
		return err_set(err, -EINVAL, "address '%s'", ends->agent);
	rc = listen_on(ends->gate, DNS_GATE_PORT, SOCK_DGRAM, &out[0], err);
	return rc < 0 ? rc
		      : listen_on(ends->gate, DNS_GATE_PORT, SOCK_STREAM,
				  &out[1], err);
}

int dns_gate_open(struct dns_gate *g, const struct dns_gate_ends *v4,
		  const struct dns_gate_ends *v6, struct err *err)
{
	int rc;

	for (size_t i = 0; i < DNS_GATE_LISTENERS; i++)
		g->listeners[i] = -1;
	for (size_t i = 0; i < DNS_GATE_CLIENTS; i++)
		dns_client_init(&g->clients[i], &g->rooms[i]);
	answers_init(&g->kept);
	rc = listen_both(v4, g->listeners, &g->agent4, err);
	if (rc == 0 && g->n_door)
		rc = listen_on(LOOPBACK, g->proxy_port, SOCK_DGRAM,
			       &g->listeners[DNS_GATE_OWN], err);
	if (rc < 0 || !v6)
		return rc;
	return listen_both(v6, g->listeners + 2, &g->agent6, err);
}

/* The packet filter says so, too; here an answer would leave. */
static bool is_agent(const struct dns_gate *g,
		     const struct sockaddr_storage *peer)
{
	struct addr from;

	if (g->n_door)
		return true;
	return sockaddr_get((const struct sockaddr *)peer, &from) &&
	       addr_eq(&from, from.family == ADDR_V6 ? &g->agent6 : &g->agent4);
}

/* --- questions ----------------------------------------------------------- */

/* The machine itself is none of what names lead to. */
static bool is_askable(const struct dns_flight *f)
{
	return f->match.ask && !addr_names_machine(str_of(f->q.name));
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
	    (!names_match(g->names, str_of(f->q.name), &f->match) &&
	     !is_askable(f))) {
		dns_flight_refuse(g, f, LDNS_RCODE_NXDOMAIN, REASON_NO_GRANT);
		return;
	}
	if (!dns_msg_type_served(f->q.type)) {
		dns_flight_refuse(g, f, LDNS_RCODE_NOTIMPL, REASON_QUERY_TYPE);
		return;
	}
	if (addr_names_machine(str_of(f->q.name))) {
		dns_flight_machine(g, f);
		return;
	}
	if (g->n_door && f->from != DNS_FROM_PROXY) {
		dns_flight_door(g, f);
		return;
	}
	/* What is only asked about leads nowhere yet: doc/design.md, section 7.
	 */
	if ((g->names->proxied && !f->match.past) || !f->match.n_lines) {
		dns_flight_stand_in(g, f, now_ms);
		return;
	}
	if (f->q.type == LDNS_RR_TYPE_AAAA && !g->ipv6) {
		dns_flight_reply(g, f, LDNS_RCODE_NOERROR, REASON_GRANTED,
				 NULL);
		return;
	}
	if (!dns_flight_recall(g, f, now_ms))
		dns_flight_launch(g, f, now_ms);
}

void dns_gate_changed(struct dns_gate *g)
{
	for (size_t i = 0; i < DNS_GATE_FLIGHTS; i++) {
		struct dns_flight *f = &g->flights[i];
		const struct names_line *denied;

		if (!g->live[i])
			continue;
		f->outdated = true;
		if (f->from == DNS_FROM_ASK) {
			upstream_stop(&f->up);
			dns_flight_land(g, f);
			continue;
		}
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
	answers_clear(&g->kept);
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
		f->from = fd == g->listeners[DNS_GATE_OWN] ? DNS_FROM_PROXY
							   : DNS_FROM_UDP;
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

/*
 * Ask for a name of our own accord; false when there is no room now. in_use:
 * the agent knows an address of it. What stands in is taken for no other.
 */
static bool renew_name(struct dns_gate *g, const char *name, uint16_t type,
		       bool in_use, int64_t now_ms)
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
	    names_match(g->names, str_of(name), &f->match)) {
		if (!g->names->proxied || f->match.past)
			dns_flight_launch(g, f, now_ms);
		else if (in_use)
			dns_flight_stand_in(g, f, now_ms);
	}
	return true;
}

void dns_gate_find(struct dns_gate *g, const char *name,
		   const struct names_match *match, int64_t now_ms)
{
	struct dns_flight *f = dns_flight_new(g);

	if (!f || !dns_msg_query_for(name, LDNS_RR_TYPE_A, &f->q)) {
		g->on_found(g->data, name, match->private_ok, NULL);
		return;
	}
	f->from = DNS_FROM_ASK;
	f->match = *match;
	if (!dns_flight_recall(g, f, now_ms))
		dns_flight_launch(g, f, now_ms);
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
				false, now_ms))
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

	for (size_t i = 0; i < g->seen->n_names; i++) {
		struct resolved_name *n = &g->seen->names[i];
		bool any = false;

		for (size_t k = 0; n->name[0] && k < RESOLVED_KINDS; k++) {
			if (n->due_ms[k] == 0 || n->due_ms[k] > now_ms)
				continue;
			if (n->used &&
			    !renew_name(g, n->name, types[k], true, now_ms))
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
		*p++ = g->live[i] ? upstream_poll(&g->flights[i].up)
				  : (struct pollfd){.fd = -1};
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
		if (g->live[i] && flights[i].fd == g->flights[i].up.fd)
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
		int64_t flight_ms =
			g->live[i] ? g->flights[i].up.deadline_ms - now_ms
				   : left_ms;

		if (flight_ms < left_ms)
			left_ms = flight_ms;
	}
	return left_ms < 0 ? 0 : (int)left_ms;
}
