/* The resolver where names do not lead to themselves: to the gate, to stand-ins
 * on the way to a proxy, or past that. */
#include "tests/unit/gate/dns_rig.h"

#define GRANTS                                                                 \
	"ports 1 tcp/443\nname *.test 1 - g-0000000001\n"                      \
	"deny no.test d-0000000002\n"

static struct err err;

static bool is_name_of(const char *addr, const char *name)
{
	const char *found;
	struct addr a;

	if (!addr_parse(str_of(addr), &a))
		return false;
	found = standins_name(rig.g.standins, &a);
	return found && strcmp(found, name) == 0;
}

/* --- the gate is where they lead ---------------------------------------- */

static void doors(void)
{
	static const struct addr ends[] = {
		{ADDR_V4, {10, 96, 0, 53}},
		{ADDR_V6, {0xfd, [15] = 0x53}},
	};
	uint16_t id = 0;
	int haproxy;

	rig_open("udp", GRANTS "");
	rig.g.door = ends;
	rig.g.n_door = 2;
	/* whoever gets there */
	rig.g.agent4.b[3] = 2;
	rig.g.listeners[DNS_GATE_OWN] = rig_socket(SOCK_DGRAM, 0);
	SAID(rig_ask("a.test", LDNS_RR_TYPE_A), "NOERROR 60 10.96.0.53");
	SAID(rig_told_text(), "allow granted a.test A g-0000000001 10.96.0.53");
	SAID(rig_ask("a.test", LDNS_RR_TYPE_AAAA), "NOERROR 60 fd00::53");
	SAID(rig_told_text(),
	     "allow granted a.test AAAA g-0000000001 fd00::53");
	SAID(rig_ask("a.test", LDNS_RR_TYPE_TXT), "NOERROR");
	CHECK(rig.n_told == 2 && rig.n_answered == 3);
	SAID(rig_ask("no.test", LDNS_RR_TYPE_A), "NXDOMAIN");
	CHECK(rig.n_told == 3);
	rig_leaves_nothing("a.test", LDNS_RR_TYPE_A);
	rig.n_told = 3;
	rig.n_answered = 4;
	rig.g.n_door = 1;
	SAID(rig_ask("a.test", LDNS_RR_TYPE_AAAA), "NOERROR");
	CHECK(rig.n_told == 3 && rig_is_silent(rig.up) && rig.pins.n == 0);
	/* HAProxy asks where it leads to; of its refusals it tells itself */
	haproxy = rig_connect(SOCK_DGRAM, rig.g.listeners[DNS_GATE_OWN]);
	close(rig.agent);
	rig.agent = haproxy;
	SAID(rig_ask("no.test", LDNS_RR_TYPE_A), "NXDOMAIN");
	CHECK(rig.n_told == 3 && rig.n_answered == 5);
	rig_send("a.test", LDNS_RR_TYPE_A, 8);
	SAID(rig_asked(), "a.test");
	rig_say("a.test 70 IN A 11.0.0.1;a.test 70 IN A 127.0.0.1");
	SAID(rig_hear_id(&id), "NOERROR 70 11.0.0.1");
	CHECK(id == 8 && rig.n_answered == 5);
	SAID(rig_told_text(), "deny floor a.test A g-0000000001 127.0.0.1");
	CHECK(rig.n_told == 4 && rig.pins.n == 1);
	CHECK(resolved_name(&rig.seen, STR("a.test"))->used);
	rig_close();
}

/* --- a proxy ------------------------------------------------------------ */

static void standing_in(void)
{
	struct names_match m;

	rig_open("proxy", GRANTS);
	CHECK(standins_new(&rig.g.standins, &err) == 0);
	SAID(rig_ask("a.test", LDNS_RR_TYPE_A), "NOERROR 60 192.0.2.1");
	SAID(rig_told_text(), "allow granted a.test A g-0000000001 192.0.2.1");
	CHECK(is_name_of("192.0.2.1", "a.test"));
	SAID(rig_ask("b.test", LDNS_RR_TYPE_A), "NOERROR 60 192.0.2.2");
	SAID(rig_ask("a.test", LDNS_RR_TYPE_A), "NOERROR 60 192.0.2.1");
	rig_leaves_nothing("a.test", LDNS_RR_TYPE_A);
	rig.n_told = 3;
	/* it has no other, and nobody is asked */
	rig.g.ipv6 = true;
	SAID(rig_ask("a.test", LDNS_RR_TYPE_AAAA), "NOERROR");
	SAID(rig_ask("a.test", LDNS_RR_TYPE_TXT), "NOERROR");
	CHECK(rig.n_told == 3 && rig.pins.n == 2 && rig.g.n_live == 0);
	CHECK(rig.pins.v[0].until_ms == 1000 + 60000 + PINS_GRACE_MS);
	/* nor kept: it is taken anew each time */
	(void)names_match(&rig.map, STR("a.test"), &m);
	CHECK(!answers_find(
		&rig.g.kept,
		&(struct dns_query){.type = LDNS_RR_TYPE_A, .name = "a.test"},
		rig.now_ms, &(struct dns_answer){0}));
	rig_close();
}

/* In use it is renewed, so that nobody else gets its address. */
static void renewed_stand_ins(void)
{
	struct resolved_name *n;

	rig_open("proxy", GRANTS "");
	CHECK(standins_new(&rig.g.standins, &err) == 0);
	SAID(rig_ask("a.test", LDNS_RR_TYPE_A), "NOERROR 60 192.0.2.1");
	n = resolved_name(&rig.seen, STR("a.test"));
	CHECK(n->used && n->due_ms[SEEN_A] == 1000 + 54000);
	rig.now_ms = rig.g.tick_ms = 55000;
	rig_step();
	CHECK(rig.g.standins->v[0].asked_ms == 55000 && !n->used);
	CHECK(rig.pins.v[0].until_ms == 55000 + 60000 + PINS_GRACE_MS);
	CHECK(rig.n_told == 1 && rig.g.n_live == 0 && rig.g.n_renewals == 0);
	rig_close();
	/* at the start nobody needs one */
	rig_open("proxy", "ports 1 tcp/443\nname a.test 1 - g-0000000001\n");
	CHECK(standins_new(&rig.g.standins, &err) == 0);
	rig_step();
	CHECK(rig.g.next_exact == 1 && rig.g.standins->n == 0);
	rig_close();
}

static bool passes(const char *addr, int64_t now_ms)
{
	struct addr a;

	return addr_parse(str_of(addr), &a) &&
	       standins_passes(rig.g.standins, &a, now_ms);
}

/* Names that go past it have their own addresses. */
static void past_it(void)
{
	rig_open("proxy udp",
		 "past *.direct.test\n"
		 "ports 1 tcp/443\nname **.test 1 - g-0000000001\n");
	CHECK(standins_new(&rig.g.standins, &err) == 0);
	SAID(rig_ask("a.test", LDNS_RR_TYPE_A), "NOERROR 60 192.0.2.1");
	/* a stand-in's address is some other name's */
	SAID(rig_resolve("a.direct.test", LDNS_RR_TYPE_A,
			 "a.direct.test 100 IN A 11.0.0.1;"
			 "a.direct.test 100 IN A 192.0.2.7"),
	     "NOERROR 100 11.0.0.1");
	CHECK(rig.told[1].reason == REASON_FLOOR &&
	      strcmp(rig.told[1].addr, "192.0.2.7") == 0);
	SAID(rig_told_text(),
	     "allow granted a.direct.test A g-0000000001 11.0.0.1");
	CHECK(passes("11.0.0.1", 1000 + 100000 + PINS_GRACE_MS - 1) &&
	      !passes("11.0.0.1", 1000 + 100000 + PINS_GRACE_MS));
	CHECK(!passes("192.0.2.7", 1000));
	/* as long as its element is in the set: a minute at least */
	SAID(rig_resolve("b.direct.test", LDNS_RR_TYPE_A,
			 "b.direct.test 7 IN A 11.0.0.2"),
	     "NOERROR 7 11.0.0.2");
	CHECK(passes("11.0.0.2", 1000 + 60000 + PINS_GRACE_MS - 1) &&
	      !passes("11.0.0.2", 1000 + 60000 + PINS_GRACE_MS));
	rig_close();
}

/* More than can be gone to: the answer does not leave. */
static void past_it_is_full(void)
{
	rig_open("proxy udp",
		 "past *.direct.test\n"
		 "ports 1 tcp/443\nname **.test 1 - g-0000000001\n");
	CHECK(standins_new(&rig.g.standins, &err) == 0);
	for (unsigned i = 0; i < STANDINS_PASSING; i++)
		rig.g.standins->passing[i].until_ms = INT64_MAX;
	SAID(rig_resolve("a.direct.test", LDNS_RR_TYPE_A,
			 "a.direct.test 100 IN A 11.0.0.1"),
	     "SERVFAIL");
	CHECK(rig.n_errors == 1 && strstr(rig.error, "past the proxy") &&
	      rig.pins.n == 0);
	rig_close();
}

/* --- what is only asked about ------------------------------------------- */

/* It leads nowhere yet, and that is known for a short time alone. */
static void asked_about(void)
{
	static const char asks[] = "ports 1 tcp/443\nports a1 tcp/443\n"
				   "name *.test 1 - g-0000000001\n"
				   "ask ** a1 60 - - a-0000000001\n";

	rig_open("udp", asks);
	CHECK(standins_new(&rig.g.standins, &err) == 0);
	SAID(rig_ask("a.example", LDNS_RR_TYPE_A), "NOERROR 10 192.0.2.1");
	CHECK(is_name_of("192.0.2.1", "a.example"));
	/* nothing is decided */
	CHECK(rig.n_told == 0 && rig.n_answered == 1 && rig_is_silent(rig.up));
	CHECK(rig.pins.n == 1 &&
	      rig.pins.v[0].until_ms == 1000 + 900000 + PINS_GRACE_MS);
	CHECK(resolved_name(&rig.seen, STR("a.example"))->due_ms[SEEN_A] ==
	      1000 + 810000);
	/* the machine is none of what names lead to */
	SAID(rig_ask("host", LDNS_RR_TYPE_A), "NXDOMAIN");
	SAID(rig_told_text(), "deny no-grant host A  ");
	/* what is granted leads to itself */
	SAID(rig_resolve("a.test", LDNS_RR_TYPE_A, "a.test 70 IN A 11.0.0.1"),
	     "NOERROR 70 11.0.0.1");
	CHECK(rig.g.standins->n == 1);
	rig_close();
}

int main(void)
{
	doors();
	standing_in();
	renewed_stand_ins();
	past_it();
	past_it_is_full();
	asked_about();
	return check_status();
}
