/* The resolver: what the agent is answered, what upstream is asked, what is
 * told of it, and in which order. */
#include "compiler/base/sys/fdpass.h"
#include "runtime/broker/broker.h"
#include "tests/unit/gate/dns_rig.h"
#include "tests/unit/gate/rooms.h"

#define GRANTS                                                                 \
	"floor 127.0.0.0/8\nprivate 10.0.0.0/8\ncover 10.1.0.0/16\n"           \
	"ports 1 tcp/443\n"                                                    \
	"name *.in.test 1 private g-00000000aa\n"                              \
	"name *.test 1 - g-0000000001\n"                                       \
	"deny no.test d-0000000002\n"

/* --- what is refused at once -------------------------------------------- */

static void refusals(void)
{
	static const struct {
		const char *name;
		ldns_rr_type type;
		const char *said, *told;
	} cases[] = {
		{"no.test", LDNS_RR_TYPE_A, "NXDOMAIN",
		 "deny denied no.test A d-0000000002 "},
		{"a.other", LDNS_RR_TYPE_A, "NXDOMAIN",
		 "deny no-grant a.other A  "},
		{".", LDNS_RR_TYPE_A, "NXDOMAIN", "deny no-grant . A  "},
		{"a.test", LDNS_RR_TYPE_NULL, "NOTIMPL",
		 "deny query-type a.test NULL g-0000000001 "},
		/* an address that has IPv6 alone is none here */
		{"a.test", LDNS_RR_TYPE_AAAA, "NOERROR", NULL},
	};
	static const char bad[12] = {0, 7, 1};
	uint16_t id;

	rig_open("udp", GRANTS);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		unsigned before = rig.n_told;

		SAID(rig_ask(cases[i].name, cases[i].type), cases[i].said);
		CHECK(rig.n_told == before + (cases[i].told != NULL));
		if (cases[i].told)
			SAID(rig_told_text(), cases[i].told);
		CHECK(rig.n_answered == i + 1);
		CHECK(rig.answered.refused == (cases[i].told != NULL));
	}
	/* without a question: it has a header, and no more */
	CHECK(send(rig.agent, bad, sizeof(bad), 0) == sizeof(bad));
	SAID(rig_hear_id(&id), "FORMERR");
	CHECK(id == 7);
	SAID(rig_told_text(), "deny bad-query    ");
	CHECK(rig.answered.rcode == LDNS_RCODE_FORMERR &&
	      rig.answered.reason == REASON_BAD_QUERY);
	/* none at all: the next one is answered */
	CHECK(send(rig.agent, bad, 11, 0) == 11);
	SAID(rig_ask("no.test", LDNS_RR_TYPE_A), "NXDOMAIN");
	CHECK(rig.n_told == 6 && rig.n_answered == 7);
	CHECK(rig_is_silent(rig.up) && rig.g.n_live == 0);
	rig_close();
}

/* Who is not the agent gets nothing, not even a refusal. */
static void strangers(void)
{
	int tcp;
	char byte;

	rig_open("udp", GRANTS);
	rig.g.agent4.b[3] = 2;
	rig_send("no.test", LDNS_RR_TYPE_A, 1);
	tcp = rig_connect(SOCK_STREAM, rig.g.listeners[1]);
	CHECK(rig_step_until(tcp) && recv(tcp, &byte, 1, 0) == 0);
	rig_step();
	CHECK(rig_is_silent(rig.agent) && rig.n_told == 0);
	close(tcp);
	rig.g.agent4.b[3] = 1;
	SAID(rig_ask("no.test", LDNS_RR_TYPE_A), "NXDOMAIN");
	rig_close();
}

/* The machine itself: its name is granted like any other, its address is known.
 */
static void machine(void)
{
	rig_open("udp", "name host - - g-0000000005\n");
	SAID(rig_ask("host", LDNS_RR_TYPE_A), "NOERROR 60 192.0.0.5");
	SAID(rig_told_text(), "allow granted host A g-0000000005 192.0.0.5");
	CHECK(rig.n_told == 1);
	SAID(rig_ask("host", LDNS_RR_TYPE_AAAA), "NOERROR");
	SAID(rig_ask("host.docker.internal", LDNS_RR_TYPE_A), "NXDOMAIN");
	rig_leaves_nothing("host", LDNS_RR_TYPE_A);
	rig_leaves_nothing("host", LDNS_RR_TYPE_AAAA);
	rig_leaves_nothing("host.docker.internal", LDNS_RR_TYPE_A);
	/* exact, and yet nobody is asked for it */
	CHECK(rig_is_silent(rig.up) && rig.seen.n_names == 1);
	rig_close();
}

/* --- what upstream is asked --------------------------------------------- */

static void resolves(void)
{
	struct pin *pin = &rig.pins.v[0];
	uint32_t was;

	rig_open("udp", GRANTS);
	rig_send("A.tesT", LDNS_RR_TYPE_A, 1);
	SAID(rig_asked(), "a.test");
	CHECK(rig.asked.type == LDNS_RR_TYPE_A && rig.asked.edns &&
	      memcmp(rig.asked.qname, "\1a\4test", 8) == 0);
	CHECK(rig.g.n_live == 1 && rig.n_told == 0);
	rig_say("a.test 100 IN CNAME b.example;b.example 90 IN A 11.0.0.1;"
		"b.example 300 IN A 11.0.0.2");
	SAID(rig_hear(), "NOERROR 90 b.example. 11.0.0.1 11.0.0.2");
	SAID(rig_told_text(), "allow granted a.test A g-0000000001 11.0.0.1");
	CHECK(rig.n_told == 1 && rig.n_answered == 1 && !rig.answered.tcp &&
	      !rig.answered.refused && !rig.answered.cut &&
	      rig.answered.has_records);
	CHECK(rig.answered.client_port == rig_port_of(rig.agent) &&
	      rig.answered.server_port == rig_port_of(rig.g.listeners[0]));
	CHECK(rig.g.n_live == 0 && rig.g.n_renewals == 0);
	/* for HAProxy, as long as the longest of them */
	CHECK(rig.pins.n == 2 && strcmp(pin->name, "a.test") == 0 &&
	      pin->until_ms == 1000 + 300000 + PINS_GRACE_MS);
	/* from what is kept, and judged anew */
	rig.now_ms += 4001;
	was = rig.n_told;
	SAID(rig_ask("a.test", LDNS_RR_TYPE_A),
	     "NOERROR 85 b.example. 11.0.0.1 11.0.0.2");
	CHECK(rig.n_told == was + 1 && rig_is_silent(rig.up));
	CHECK(pin->until_ms == 1000 + 300000 + PINS_GRACE_MS);
	rig_leaves_nothing("a.test", LDNS_RR_TYPE_A);
	/* and no longer than it said */
	rig.now_ms = 1000 + 90000;
	SAID(rig_resolve("a.test", LDNS_RR_TYPE_A, "a.test 5 IN A 11.0.0.3"),
	     "NOERROR 5 11.0.0.3");
	CHECK(rig.pins.v[2].until_ms == 91000 + 60000 + PINS_GRACE_MS);
	/* nothing there is permitted, too */
	SAID(rig_resolve("e.test", LDNS_RR_TYPE_A, ""), "NOERROR");
	SAID(rig_told_text(), "allow granted e.test A g-0000000001 ");
	SAID(rig_resolve("e.test", LDNS_RR_TYPE_TXT, "e.test 7 IN TXT x"),
	     "NOERROR 7 \"x\"");
	SAID(rig_told_text(), "allow granted e.test TXT g-0000000001 ");
	CHECK(rig.pins.n == 3);
	rig_close();
}

static void judged_addresses(void)
{
	rig_open("udp", GRANTS);
	rig.hosts.v[0] = (struct addr){ADDR_V4, {11, 9, 9, 9}};
	rig.hosts.n = 1;
	/* of each that goes it is told why, and who comes first stays first */
	SAID(rig_resolve("a.test", LDNS_RR_TYPE_A,
			 "a.test 60 IN A 127.0.0.9;a.test 60 IN A 10.2.0.1;"
			 "a.test 60 IN A 11.9.9.9;a.test 60 IN A 10.1.0.1;"
			 "a.test 60 IN A 11.0.0.1"),
	     "NOERROR 60 10.1.0.1 11.0.0.1");
	CHECK(rig.n_told == 4);
	CHECK(rig.told[0].reason == REASON_FLOOR &&
	      strcmp(rig.told[0].addr, "127.0.0.9") == 0 && !rig.told[0].allow);
	CHECK(rig.told[1].reason == REASON_PRIVATE_ADDRESS &&
	      strcmp(rig.told[1].addr, "10.2.0.1") == 0);
	CHECK(rig.told[2].reason == REASON_HOST_ADDRESS &&
	      strcmp(rig.told[2].addr, "11.9.9.9") == 0);
	SAID(rig_told_text(), "allow granted a.test A g-0000000001 10.1.0.1");
	/* what is granted as an address is nothing that a name opens */
	CHECK(rig.pins.n == 1 && rig.pins.v[0].addr.b[0] == 11);
	/* nothing is left: refused, each, and not permitted */
	SAID(rig_resolve("b.test", LDNS_RR_TYPE_A,
			 "b.test 60 IN A 10.2.0.1;b.test 60 IN A 10.2.0.2"),
	     "NOERROR");
	CHECK(rig.n_told == 6 && !rig_last_told()->allow);
	/* a grant may say that private ones are meant */
	SAID(rig_resolve("x.in.test", LDNS_RR_TYPE_A,
			 "x.in.test 60 IN A 10.2.0.1"),
	     "NOERROR 60 10.2.0.1");
	rig_close();
}

static void failures(void)
{
	unsigned before;

	rig_open("udp", GRANTS);
	rig_send("a.test", LDNS_RR_TYPE_A, 3);
	for (unsigned i = 0; i < UPSTREAM_TRIES; i++) {
		SAID(rig_asked(), "a.test");
		rig_say_code("", LDNS_RCODE_SERVFAIL);
	}
	SAID(rig_hear(), "SERVFAIL");
	SAID(rig_told_text(), "deny upstream a.test A g-0000000001 ");
	CHECK(rig.n_told == 1 && rig.g.n_live == 0 && rig.answered.refused &&
	      rig.answered.reason == REASON_UPSTREAM);
	/* what has failed is not kept, nor what is not there */
	for (unsigned i = 0; i < 2; i++) {
		rig_send("a.test", LDNS_RR_TYPE_A, 4);
		SAID(rig_asked(), "a.test");
		rig_say_code("", LDNS_RCODE_NXDOMAIN);
		SAID(rig_hear(), "NXDOMAIN");
	}
	/* HAProxy cannot be told: the address does not leave */
	before = rig.n_told;
	rig.pins.admin = "/nonexistent/admin";
	SAID(rig_resolve("b.test", LDNS_RR_TYPE_A, "b.test 60 IN A 11.0.0.1"),
	     "SERVFAIL");
	CHECK(rig.n_errors == 1 &&
	      strstr(rig.error, "opening 'b.test' in HAProxy"));
	CHECK(rig.n_told == before && rig.pins.n == 0);
	rig.pins.admin = NULL;
	SAID(rig_resolve("b.test", LDNS_RR_TYPE_A, "b.test 60 IN A 11.0.0.1"),
	     "NOERROR 60 11.0.0.1");
	rig_close();
}

/* Upstream cannot even be asked. */
static void no_way_there(void)
{
	rig_open("udp", GRANTS);
	memset(rig.map.upstream_addr.b, 255, 4);
	SAID(rig_ask("a.test", LDNS_RR_TYPE_A), "SERVFAIL");
	SAID(rig_told_text(), "deny upstream a.test A g-0000000001 ");
	CHECK(rig.n_told == 1 && rig.g.n_live == 0);
	rig_close();
}

/* Nobody answers: it is asked again, and then that is said. */
static void silence(void)
{
	uint16_t id;

	rig_open("udp", GRANTS);
	rig_send("a.test", LDNS_RR_TYPE_A, 3);
	SAID(rig_asked(), "a.test");
	id = rig.asked.id;
	CHECK(dns_gate_wait_ms(&rig.g, rig.now_ms) == UPSTREAM_WAIT_MS);
	rig.g.tick_ms = rig.now_ms + 70;
	CHECK(dns_gate_wait_ms(&rig.g, rig.now_ms) == 70);
	rig.g.tick_ms = INT64_MAX;
	rig.now_ms += UPSTREAM_WAIT_MS - 1;
	CHECK(dns_gate_wait_ms(&rig.g, rig.now_ms) == 1);
	rig_step();
	CHECK(rig_is_silent(rig.up) && rig.g.n_live == 1);
	rig.now_ms++;
	CHECK(dns_gate_wait_ms(&rig.g, rig.now_ms) == 0);
	rig_step();
	SAID(rig_asked(), "a.test");
	CHECK(rig.asked.id != id || rig.asker.sin_port != 0);
	rig.now_ms += UPSTREAM_WAIT_MS;
	rig_step();
	SAID(rig_hear(), "SERVFAIL");
	CHECK(rig.g.n_live == 0 && rig_is_silent(rig.up));
	rig.g.tick_ms = rig.now_ms + 70;
	CHECK(dns_gate_wait_ms(&rig.g, rig.now_ms) == 70);
	CHECK(dns_gate_wait_ms(&rig.g, rig.now_ms + 80) == 0);
	rig_close();
}

/* Longer than the client takes by UDP: it is to ask by TCP. */
static void long_answers(void)
{
	char records[4096];
	size_t n = 0;

	rig_open("udp", GRANTS);
	for (unsigned i = 1; i <= 60; i++)
		n += (size_t)snprintf(records + n, sizeof(records) - n,
				      "a.test 60 IN A 11.0.0.%u;", i);
	SAID(rig_resolve("a.test", LDNS_RR_TYPE_A, records), "NOERROR tc");
	CHECK(rig.answered.cut && !rig.answered.has_records &&
	      !rig.answered.refused && rig.answered.bytes < 512);
	rig_close();
}

/* --- as many as there is room for --------------------------------------- */

/* Each that is on its way has a slot; others wait in the socket's queue. */
static void full_house(void)
{
	struct pollfd p[DNS_GATE_POLL];
	struct names_match m;
	uint8_t wire[514];
	char name[32];
	size_t n;
	int tcp;

	rig_open("udp", "ports 1 tcp/443\nname *.test 1 - g-0000000001\n"
			"name x.other 1 - g-0000000003\n"
			"deny no.test d-0000000002\n");
	rig.g.next_exact = UINT32_MAX; /* not yet */
	tcp = rig_connect(SOCK_STREAM, rig.g.listeners[1]);
	rig_step();
	for (unsigned i = 0; i < DNS_GATE_FLIGHTS; i++) {
		snprintf(name, sizeof(name), "n%u.test", i);
		rig_send(name, LDNS_RR_TYPE_A, (uint16_t)i);
		/* the last has one behind it, that comes with it */
		if (i == DNS_GATE_FLIGHTS - 1)
			rig_send("no.test", LDNS_RR_TYPE_A, 999);
		SAID(rig_asked(), name);
	}
	CHECK(rig.g.n_live == DNS_GATE_FLIGHTS);
	/* who asks is not heard until there is room again */
	dns_gate_poll(&rig.g, p);
	CHECK(p[0].fd == -1 && p[1].fd == -1);
	n = rig_question("no.test", LDNS_RR_TYPE_A, 7, wire + 2);
	wire[0] = 0;
	wire[1] = (uint8_t)n;
	CHECK(send(tcp, wire, n + 2, 0) == (ssize_t)n + 2);
	for (unsigned i = 0; i < 4; i++)
		rig_step();
	CHECK(rig.g.clients[0].n_in == n + 2 && rig_is_silent(tcp));
	CHECK(rig.n_told == 0 && rig_is_silent(rig.agent));
	/* nor is there one for the gate's own */
	(void)names_match(&rig.map, STR("a.test"), &m);
	dns_gate_find(&rig.g, "a.test", &m, rig.now_ms);
	CHECK(rig.n_found == 1 && !rig.found.addr[0]);
	rig.g.next_exact = 0;
	rig_step();
	CHECK(rig.g.next_exact == 0 && rig.g.n_renewals == 0 &&
	      rig.g.n_live == DNS_GATE_FLIGHTS);
	rig.g.next_exact = UINT32_MAX;
	/* one comes back, by which another has its turn */
	rig_say("n255.test 60 IN A 11.0.0.1");
	SAID(rig_hear(), "NOERROR 60 11.0.0.1");
	CHECK(rig.g.n_live == DNS_GATE_FLIGHTS - 1);
	SAID(rig_hear(), "NXDOMAIN");
	CHECK(rig_step_until(tcp) && recv(tcp, wire, sizeof(wire), 0) > 14);
	SAID(rig_shown(wire + 2, n), "NXDOMAIN");
	close(tcp);
	rig.g.next_exact = 0;
	rig_step();
	SAID(rig_asked(), "x.other");
	CHECK(rig.g.n_renewals == 1 && rig.g.n_live == DNS_GATE_FLIGHTS);
	rig_close();
}

/* --- how it goes on ----------------------------------------------------- */

/* An empty datagram keeps nobody waiting. */
static void empty_datagrams(void)
{
	rig_open("udp", GRANTS);
	CHECK(send(rig.agent, "", 0, 0) == 0);
	rig_send("no.test", LDNS_RR_TYPE_A, 1);
	rig_step();
	CHECK(!rig_is_silent(rig.agent));
	SAID(rig_hear(), "NXDOMAIN");
	rig_close();
}

/* Of an answer that is not kept nothing stays in memory. */
static void nothing_left(void)
{
	size_t before = 0;

	rig_open("udp", GRANTS);
	for (unsigned i = 0; i < 3; i++) {
		before = mallinfo2().uordblks;
		SAID(rig_resolve("a.test", LDNS_RR_TYPE_TXT,
				 "a.test 0 IN TXT x;a.test 0 IN TXT y"),
		     "NOERROR 0 \"x\" \"y\"");
	}
	CHECK(mallinfo2().uordblks == before);
	rig_close();
}

/* Where there is no way out but a broker's sockets upstream is asked by one of
 * them. */
static void by_a_broker(void)
{
	const struct broker_answer answer = {0};
	int channel[2], made;

	rig_open("udp", GRANTS);
	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, channel) == 0);
	made = rig_connect(SOCK_DGRAM, rig.up);
	CHECK(fdpass_send(channel[1], &answer, sizeof(answer), made, 0));
	rig.g.broker = channel[0];
	rig_send("a.test", LDNS_RR_TYPE_A, 1);
	SAID(rig_asked(), "a.test");
	CHECK(ntohs(rig.asker.sin_port) == rig_port_of(made));
	rig_say("a.test 60 IN A 11.0.0.1");
	SAID(rig_hear(), "NOERROR 60 11.0.0.1");
	close(channel[0]);
	close(channel[1]);
	close(made);
	rig_close();
}

/* --- another plan ------------------------------------------------------- */

static void use_other(const char *rest)
{
	names_free(&rig.map);
	rig_use_map("udp", rest);
	dns_gate_changed(&rig.g);
}

static void changes(void)
{
	struct names_match m;
	unsigned files;

	rig_open("udp", "ports 1 tcp/443\nname ** 1 - g-0000000001\n");
	SAID(rig_resolve("kept.test", LDNS_RR_TYPE_A,
			 "kept.test 60 IN A 11.0.0.1"),
	     "NOERROR 60 11.0.0.1");
	CHECK(rig.n_told == 1);
	(void)names_match(&rig.map, STR("asked.test"), &m);
	dns_gate_find(&rig.g, "asked.test", &m, rig.now_ms);
	SAID(rig_asked(), "asked.test");
	rig_send("denied.test", LDNS_RR_TYPE_A, 1);
	SAID(rig_asked(), "denied.test");
	rig_send("gone.example", LDNS_RR_TYPE_A, 2);
	SAID(rig_asked(), "gone.example");
	rig_send("a.test", LDNS_RR_TYPE_A, 3);
	SAID(rig_asked(), "a.test");
	CHECK(rig.g.n_live == 4);
	files = open_files();
	use_other("ports 2 tcp/80\nname *.test 2 - g-0000000002\n"
		  "deny denied.test d-0000000003\n");
	CHECK(rig.g.n_live == 1 && rig.n_found == 0 && rig.n_told == 3);
	CHECK(open_files() == files - 3);
	CHECK(rig.told[1].reason == REASON_DENIED &&
	      strcmp(rig.told[1].name, "denied.test") == 0 &&
	      strcmp(rig.told[1].id, "d-0000000003") == 0);
	CHECK(rig.told[2].reason == REASON_NO_GRANT &&
	      strcmp(rig.told[2].name, "gone.example") == 0 &&
	      !rig.told[2].id[0]);
	SAID(rig_hear(), "NXDOMAIN");
	SAID(rig_hear(), "NXDOMAIN");
	/* it goes on under the new one, and is not kept: it was asked before */
	rig_say("a.test 60 IN A 11.0.0.2");
	SAID(rig_hear(), "NOERROR 60 11.0.0.2");
	SAID(rig_told_text(), "allow granted a.test A g-0000000002 11.0.0.2");
	SAID(rig_resolve("a.test", LDNS_RR_TYPE_A, "a.test 60 IN A 11.0.0.3"),
	     "NOERROR 60 11.0.0.3");
	/* nor is what was kept before */
	SAID(rig_resolve("kept.test", LDNS_RR_TYPE_A,
			 "kept.test 60 IN A 11.0.0.4"),
	     "NOERROR 60 11.0.0.4");
	rig_close();
}

/* What was there when it was polled is no news of what came since, in the same
 * place. */
static void changed_after_poll(void)
{
	struct pollfd p[DNS_GATE_POLL];
	struct names_match m;
	int other;

	rig_open("udp", GRANTS);
	rig_send("a.test", LDNS_RR_TYPE_A, 1);
	SAID(rig_asked(), "a.test");
	rig_say("a.test 60 IN A 11.0.0.1");
	dns_gate_poll(&rig.g, p);
	CHECK(poll(p, ARRAY_LEN(p), RIG_WAIT_MS) == 1);
	use_other("ports 1 tcp/443\nname b.test 1 - g-0000000001\n");
	/* another number than that one's */
	other = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
	(void)names_match(&rig.map, STR("b.test"), &m);
	dns_gate_find(&rig.g, "b.test", &m, rig.now_ms);
	CHECK(rig.g.live[0] && rig.g.n_live == 1);
	SAID(rig_asked(), "b.test");
	rig_say("b.test 60 IN A 11.0.0.2");
	dns_gate_step(&rig.g, p, rig.now_ms);
	CHECK(rig.n_found == 0 && rig.g.live[0]);
	CHECK(rig_step_found(1) && strcmp(rig.found.addr, "11.0.0.2") == 0);
	close(other);
	rig_close();
}

/* --- what a person permitted -------------------------------------------- */

static void finds(void)
{
	struct resolved_name *seen;
	struct names_match m;

	rig_open("udp", GRANTS);
	(void)names_match(&rig.map, STR("x.in.test"), &m);
	dns_gate_find(&rig.g, "x.in.test", &m, rig.now_ms);
	SAID(rig_asked(), "x.in.test");
	CHECK(rig.asked.type == LDNS_RR_TYPE_A && rig.n_found == 0);
	rig_say("x.in.test 60 IN A 127.0.0.1;x.in.test 60 IN A 10.2.0.1;"
		"x.in.test 60 IN A 10.2.0.2");
	CHECK(rig_step_found(1) && rig.found.private_ok &&
	      strcmp(rig.found.name, "x.in.test") == 0 &&
	      strcmp(rig.found.addr, "10.2.0.1") == 0);
	/* the agent was told nothing, and knows no address */
	CHECK(rig.n_told == 0 && rig.n_answered == 0);
	CHECK(resolved_names_of(&rig.seen,
				&(struct addr){ADDR_V4, {10, 2, 0, 1}}, &seen,
				1) == 0);
	/* again, of what is kept */
	dns_gate_find(&rig.g, "x.in.test", &m, rig.now_ms);
	CHECK(rig.n_found == 2 && rig.g.n_live == 0 && rig_is_silent(rig.up) &&
	      strcmp(rig.found.addr, "10.2.0.1") == 0);
	/* none that may be reached; no name */
	(void)names_match(&rig.map, STR("b.test"), &m);
	dns_gate_find(&rig.g, "b.test", &m, rig.now_ms);
	SAID(rig_asked(), "b.test");
	rig_say("b.test 60 IN A 10.2.0.1");
	CHECK(rig_step_found(3) && !rig.found.addr[0] && !rig.found.private_ok);
	dns_gate_find(&rig.g, "b..test", &m, rig.now_ms);
	CHECK(rig.n_found == 4 && !rig.found.addr[0]);
	/* upstream fails; HAProxy cannot be told */
	dns_gate_find(&rig.g, "d.test", &m, rig.now_ms);
	for (unsigned i = 0; i < UPSTREAM_TRIES; i++) {
		SAID(rig_asked(), "d.test");
		rig_say_code("", LDNS_RCODE_SERVFAIL);
	}
	CHECK(rig_step_found(5) && !rig.found.addr[0] &&
	      strcmp(rig.found.name, "d.test") == 0);
	rig.pins.admin = "/nonexistent/admin";
	dns_gate_find(&rig.g, "d.test", &m, rig.now_ms);
	SAID(rig_asked(), "d.test");
	rig_say("d.test 60 IN A 11.0.0.1");
	CHECK(rig.n_told == 0);
	CHECK(rig_step_found(6) && !rig.found.addr[0]);
	rig_close();
}

int main(void)
{
	refusals();
	strangers();
	machine();
	resolves();
	judged_addresses();
	failures();
	no_way_there();
	silence();
	long_answers();
	full_house();
	empty_datagrams();
	nothing_left();
	by_a_broker();
	changes();
	changed_after_poll();
	finds();
	return check_status();
}
