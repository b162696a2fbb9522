/*
 * The gate's resolver in this process, without a packet filter and without
 * HAProxy, between two ends that a test plays: the agent and the upstream, on
 * loopback. What the time is the test says. Each step is one of the gate's
 * loop; who waits for an answer waits until it is there.
 */
#ifndef TESTS_UNIT_GATE_DNS_RIG_H
#define TESTS_UNIT_GATE_DNS_RIG_H

#include "compiler/base/sys/sockaddr.h"
#include "runtime/gate/dns/dns_flight.h"

#include "tests/check.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <malloc.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RIG_WAIT_MS 2000 /* until something is not there at all */
#define RIG_STEPS   2000
#define RIG_TOLD    1024

#define SAID(said, want)                                                       \
	do {                                                                   \
		const char *said_ = (said);                                    \
                                                                               \
		CHECK_MSG(strcmp(said_, want) == 0, "%s", said_);              \
	} while (0)

struct rig_told {
	enum record_kind kind;
	bool allow;
	enum reason reason;
	char name[LIMIT_NAME_BYTES + 1], addr[ADDR_TEXT_MAX], id[16], type[16];
};

struct rig_answered {
	bool tcp, cut, refused, has_records;
	enum reason reason;
	ldns_pkt_rcode rcode;
	size_t bytes;
	uint16_t client_port, server_port;
};

struct rig_found {
	char name[LIMIT_NAME_BYTES + 1], addr[ADDR_TEXT_MAX]; /* "": none */
	bool private_ok;
};

static struct {
	struct names_map map;
	struct names_hosts hosts;
	struct resolved seen;
	struct pins pins;
	struct dns_gate g;
	int64_t now_ms;

	int agent;	/* by UDP, connected */
	int up, up_tcp; /* the upstream's, by UDP and listening by TCP */
	struct dns_query asked;	  /* the last that it was asked, */
	struct sockaddr_in asker; /* and from where */

	struct rig_told told[RIG_TOLD];
	unsigned n_told, n_answered, n_errors, n_found;
	struct rig_answered answered; /* the last */
	struct rig_found found;
	char error[512];
} rig;

/* --- what the gate tells ------------------------------------------------ */

static inline void rig_take_record(void *data, const struct record *r)
{
	struct rig_told *t = &rig.told[rig.n_told++ % RIG_TOLD];

	(void)data;
	*t = (struct rig_told){
		.kind = r->kind, .allow = r->allow, .reason = r->reason};
	if (r->n_names)
		snprintf(t->name, sizeof(t->name), "%s", r->names[0]);
	if (r->addr)
		addr_text(r->addr, t->addr);
	if (r->type)
		snprintf(t->type, sizeof(t->type), "%s", r->type);
	snprintf(t->id, sizeof(t->id), "%.*s", STR_ARG(r->id));
}

static inline uint16_t rig_port_in(const struct sockaddr_storage *s)
{
	return ntohs(((const struct sockaddr_in *)s)->sin_port);
}

static inline void rig_take_answer(void *data, const struct record_answer *r)
{
	(void)data;
	rig.n_answered++;
	rig.answered = (struct rig_answered){
		.tcp = r->tcp,
		.cut = r->cut,
		.refused = r->refused,
		.has_records = r->answer != NULL,
		.reason = r->reason,
		.rcode = r->rcode,
		.bytes = r->bytes,
		.client_port = rig_port_in(r->client),
		.server_port = rig_port_in(r->server),
	};
}

static inline void rig_take_error(void *data, const char *message)
{
	(void)data;
	rig.n_errors++;
	snprintf(rig.error, sizeof(rig.error), "%s", message);
}

static inline void rig_take_found(void *data, const char *name, bool private_ok,
				  const struct addr *addr)
{
	(void)data;
	rig.n_found++;
	rig.found = (struct rig_found){.private_ok = private_ok};
	snprintf(rig.found.name, sizeof(rig.found.name), "%s", name);
	if (addr)
		addr_text(addr, rig.found.addr);
}

static inline const struct rig_told *rig_last_told(void)
{
	return &rig.told[(rig.n_told - 1) % RIG_TOLD];
}

/* The last that was told: "deny no-grant NAME TYPE ID ADDR". */
static inline const char *rig_told_text(void)
{
	static char text[512];
	const struct rig_told *t = rig_last_told();

	if (!rig.n_told)
		return "nothing";
	snprintf(text, sizeof(text), "%s %s %s %s %s %s",
		 t->allow ? "allow" : "deny", reason_name(t->reason), t->name,
		 t->type, t->id, t->addr);
	CHECK(t->kind == RECORD_RESOLVE);
	return text;
}

/* --- sockets ------------------------------------------------------------ */

static inline uint16_t rig_port_of(int fd)
{
	struct sockaddr_in sa = {0};
	socklen_t n = sizeof(sa);

	CHECK(getsockname(fd, (struct sockaddr *)&sa, &n) == 0);
	return ntohs(sa.sin_port);
}

/* On loopback; port 0: any. A stream's listens. */
static inline int rig_socket(int type, uint16_t port)
{
	struct sockaddr_in sa = {.sin_family = AF_INET,
				 .sin_port = htons(port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 ||
	    (type == SOCK_STREAM && listen(fd, 64) < 0))
		return -1;
	return fd;
}

static inline int rig_connect(int type, int to)
{
	struct sockaddr_in sa = {.sin_family = AF_INET,
				 .sin_port = htons(rig_port_of(to)),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0), on = 1;

	CHECK(fd >= 0 && connect(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0);
	/* each byte by itself */
	if (type == SOCK_STREAM)
		CHECK(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on,
				 sizeof(on)) == 0);
	return fd;
}

/* A port that is free by UDP need not be so by TCP. */
static inline void rig_open_upstream(void)
{
	for (unsigned i = 0; i < 100; i++) {
		rig.up = rig_socket(SOCK_DGRAM, 0);
		rig.up_tcp = rig_socket(SOCK_STREAM, rig_port_of(rig.up));
		if (rig.up_tcp >= 0)
			return;
		close(rig.up);
	}
	CHECK(false);
}

static inline void rig_use_map(const char *head, const char *rest)
{
	char text[4096];
	struct err err;

	if (strstr(head, "udp"))
		snprintf(text, sizeof(text),
			 "membrane-names 2\nupstream %s 127.0.0.1 %u\n%s", head,
			 rig_port_of(rig.up), rest);
	else
		snprintf(text, sizeof(text),
			 "membrane-names 2\nupstream %s\n%s", head, rest);
	if (names_parse(str_of(text), &rig.map, &err) < 0)
		CHECK_MSG(false, "%s", err.text);
}

/* head: "udp", "proxy udp" or "proxy"; rest: the lines behind that. */
static inline void rig_open(const char *head, const char *rest)
{
	memset(&rig, 0, sizeof(rig));
	rig.now_ms = 1000;
	rig_open_upstream();
	rig_use_map(head, rest);
	resolved_init(&rig.seen);
	pins_init(&rig.pins, "pins.map");
	rig.g.names = &rig.map;
	rig.g.hosts = &rig.hosts;
	rig.g.seen = &rig.seen;
	rig.g.pins = &rig.pins;
	rig.g.on_record = rig_take_record;
	rig.g.on_answer = rig_take_answer;
	rig.g.on_error = rig_take_error;
	rig.g.on_found = rig_take_found;
	rig.g.tick_ms = INT64_MAX;
	rig.g.agent4 = (struct addr){ADDR_V4, {127, 0, 0, 1}};
	for (size_t i = 0; i < DNS_GATE_LISTENERS; i++)
		rig.g.listeners[i] = -1;
	rig.g.listeners[0] = rig_socket(SOCK_DGRAM, 0);
	rig.g.listeners[1] = rig_socket(SOCK_STREAM, 0);
	for (size_t i = 0; i < DNS_GATE_CLIENTS; i++)
		dns_client_init(&rig.g.clients[i], &rig.g.rooms[i]);
	answers_init(&rig.g.kept);
	rig.agent = rig_connect(SOCK_DGRAM, rig.g.listeners[0]);
}

static inline void rig_close(void)
{
	for (size_t i = 0; i < DNS_GATE_FLIGHTS; i++)
		if (rig.g.live[i])
			upstream_stop(&rig.g.flights[i].up);
	for (size_t i = 0; i < DNS_GATE_CLIENTS; i++)
		if (rig.g.clients[i].fd >= 0)
			dns_client_close(&rig.g.clients[i]);
	for (size_t i = 0; i < DNS_GATE_LISTENERS; i++)
		if (rig.g.listeners[i] >= 0)
			close(rig.g.listeners[i]);
	answers_clear(&rig.g.kept);
	close(rig.agent);
	close(rig.up);
	close(rig.up_tcp);
	names_free(&rig.map);
}

/* --- the loop ----------------------------------------------------------- */

/* Of what is there already, and of the time. */
static inline void rig_step(void)
{
	static struct pollfd p[DNS_GATE_POLL];

	dns_gate_poll(&rig.g, p);
	CHECK(poll(p, ARRAY_LEN(p), 0) >= 0);
	dns_gate_step(&rig.g, p, rig.now_ms);
}

/* Steps until that can be read; false: it never can. */
static inline bool rig_step_until(int fd)
{
	static struct pollfd p[DNS_GATE_POLL + 1];

	for (unsigned i = 0; i < RIG_STEPS; i++) {
		dns_gate_poll(&rig.g, p);
		p[DNS_GATE_POLL] = (struct pollfd){fd, POLLIN, 0};
		if (poll(p, ARRAY_LEN(p), RIG_WAIT_MS) <= 0)
			return false;
		if (p[DNS_GATE_POLL].revents)
			return true;
		dns_gate_step(&rig.g, p, rig.now_ms);
	}
	return false;
}

/* Steps until so many were found. */
static inline bool rig_step_found(unsigned n)
{
	static struct pollfd p[DNS_GATE_POLL];

	for (unsigned i = 0; i < RIG_STEPS && rig.n_found < n; i++) {
		dns_gate_poll(&rig.g, p);
		if (poll(p, ARRAY_LEN(p), RIG_WAIT_MS) <= 0)
			return false;
		dns_gate_step(&rig.g, p, rig.now_ms);
	}
	return rig.n_found == n;
}

static inline bool rig_is_silent(int fd)
{
	struct pollfd p = {fd, POLLIN, 0};

	return poll(&p, 1, 0) == 0;
}

/* --- the agent ---------------------------------------------------------- */

/* A question as a client has it, without EDNS. */
static inline size_t rig_question(const char *name, ldns_rr_type type,
				  uint16_t id, uint8_t out[512])
{
	ldns_pkt *p = ldns_pkt_query_new(ldns_dname_new_frm_str(name), type,
					 LDNS_RR_CLASS_IN, LDNS_RD);
	uint8_t *wire = NULL;
	size_t n = 0;

	ldns_pkt_set_id(p, id);
	CHECK(ldns_pkt2wire(&wire, p, &n) == LDNS_STATUS_OK && n <= 512);
	memcpy(out, wire, n);
	free(wire);
	ldns_pkt_free(p);
	return n;
}

static inline void rig_send(const char *name, ldns_rr_type type, uint16_t id)
{
	uint8_t wire[512];
	size_t n = rig_question(name, type, id, wire);

	CHECK(send(rig.agent, wire, n, 0) == (ssize_t)n);
}

/* An answer, for a test: "NOERROR 60 11.0.0.1 11.0.0.2", the TTL the least;
 * "NOERROR tc", "NXDOMAIN". */
static inline const char *rig_shown(const uint8_t *wire, size_t n)
{
	static char text[4096];
	ldns_pkt *p = NULL;
	const ldns_rr_list *list;
	uint32_t ttl_s = UINT32_MAX;
	size_t at;

	if (ldns_wire2pkt(&p, wire, n) != LDNS_STATUS_OK)
		return "malformed";
	list = ldns_pkt_answer(p);
	at = (size_t)snprintf(
		text, sizeof(text), "%s%s",
		ldns_lookup_by_id(ldns_rcodes, ldns_pkt_get_rcode(p))->name,
		ldns_pkt_tc(p) ? " tc" : "");
	for (size_t i = 0; i < ldns_rr_list_rr_count(list); i++)
		if (ldns_rr_ttl(ldns_rr_list_rr(list, i)) < ttl_s)
			ttl_s = ldns_rr_ttl(ldns_rr_list_rr(list, i));
	if (ldns_rr_list_rr_count(list))
		at += (size_t)snprintf(text + at, sizeof(text) - at, " %u",
				       ttl_s);
	for (size_t i = 0; i < ldns_rr_list_rr_count(list); i++) {
		char *data =
			ldns_rdf2str(ldns_rr_rdf(ldns_rr_list_rr(list, i), 0));

		at += (size_t)snprintf(text + at, sizeof(text) - at, " %s",
				       data);
		free(data);
	}
	ldns_pkt_free(p);
	return text;
}

/* What the agent has by UDP, once it is there; its number into *out_id. */
static inline const char *rig_hear_id(uint16_t *out_id)
{
	static uint8_t wire[4096];
	ssize_t n;

	if (!rig_step_until(rig.agent))
		return "nothing";
	n = recv(rig.agent, wire, sizeof(wire), MSG_DONTWAIT);
	if (n < 12)
		return "nothing";
	*out_id = LDNS_ID_WIRE(wire);
	return rig_shown(wire, (size_t)n);
}

static inline const char *rig_hear(void)
{
	uint16_t id;

	return rig_hear_id(&id);
}

/* The same of a question that needs no upstream. */
static inline const char *rig_ask(const char *name, ldns_rr_type type)
{
	uint16_t id = 0;
	const char *said;

	rig_send(name, type, 4711);
	said = rig_hear_id(&id);
	CHECK_MSG(id == 4711, "%s: another number", name);
	return said;
}

/* Of a question that was answered nothing stays in memory. */
static inline void rig_leaves_nothing(const char *name, ldns_rr_type type)
{
	size_t before;

	(void)rig_ask(name, type);
	before = mallinfo2().uordblks;
	(void)rig_ask(name, type);
	CHECK_MSG(mallinfo2().uordblks == before, "%s", name);
}

/* --- the upstream ------------------------------------------------------- */

/* The name that it is asked for next, by UDP. */
static inline const char *rig_asked(void)
{
	socklen_t n_asker = sizeof(rig.asker);
	uint8_t wire[1024];
	ldns_pkt_rcode rcode;
	ssize_t n;

	if (!rig_step_until(rig.up))
		return "nobody asks";
	n = recvfrom(rig.up, wire, sizeof(wire), MSG_DONTWAIT,
		     (struct sockaddr *)&rig.asker, &n_asker);
	if (n < 0 ||
	    dns_msg_query(wire, (size_t)n, &rig.asked, &rcode) != DNS_MSG_ASK)
		return "no question";
	return rig.asked.name;
}

/* Its answer to that: records as a zone has them, ';' between. */
static inline size_t rig_answer_of(const char *records, ldns_pkt_rcode rcode,
				   uint8_t *out, size_t max)
{
	ldns_pkt *p = ldns_pkt_query_new(ldns_dname_new_frm_str(rig.asked.name),
					 (ldns_rr_type)rig.asked.type,
					 LDNS_RR_CLASS_IN, LDNS_RD);
	char text[8192], *save = NULL;
	uint8_t *wire = NULL;
	size_t n = 0;

	ldns_pkt_set_id(p, rig.asked.id);
	ldns_pkt_set_qr(p, true);
	ldns_pkt_set_rcode(p, (uint8_t)rcode);
	snprintf(text, sizeof(text), "%s", records);
	for (char *r = strtok_r(text, ";", &save); r;
	     r = strtok_r(NULL, ";", &save)) {
		ldns_rr *rr = NULL;

		CHECK_MSG(ldns_rr_new_frm_str(&rr, r, 0, NULL, NULL) ==
				  LDNS_STATUS_OK,
			  "%s", r);
		ldns_pkt_push_rr(p, LDNS_SECTION_ANSWER, rr);
	}
	CHECK(ldns_pkt2wire(&wire, p, &n) == LDNS_STATUS_OK && n <= max);
	memcpy(out, wire, n);
	free(wire);
	ldns_pkt_free(p);
	return n;
}

static inline void rig_say_code(const char *records, ldns_pkt_rcode rcode)
{
	static uint8_t wire[DNS_MSG_MAX];
	size_t n = rig_answer_of(records, rcode, wire, sizeof(wire));

	CHECK(sendto(rig.up, wire, n, 0, (struct sockaddr *)&rig.asker,
		     sizeof(rig.asker)) == (ssize_t)n);
}

static inline void rig_say(const char *records)
{
	rig_say_code(records, LDNS_RCODE_NOERROR);
}

/* A question of the agent's, with what upstream says to it. */
static inline const char *rig_resolve(const char *name, ldns_rr_type type,
				      const char *records)
{
	rig_send(name, type, 17);
	if (strcmp(rig_asked(), name) != 0)
		return "another name is asked for";
	rig_say(records);
	return rig_hear();
}

#endif
