/* What the resolver asks of its own accord: exact names at the start, and those
 * that are in use before they run out. */
#include "tests/unit/gate/dns_rig.h"

/* Upstream is asked for that name and type, and has this address, or none. */
static void upstream_has(const char *name, ldns_rr_type type, const char *data)
{
	char record[128] = "";

	SAID(rig_asked(), name);
	CHECK_MSG(rig.asked.type == type, "%s: %u", name, rig.asked.type);
	if (data[0])
		snprintf(record, sizeof(record), "%s 100 IN %s %s", name,
			 type == LDNS_RR_TYPE_A ? "A" : "AAAA", data);
	rig_say(record);
}

/* All that came back is judged. */
static void settle(void)
{
	for (unsigned i = 0; i < 10 && rig.g.n_live; i++) {
		struct pollfd p[DNS_GATE_POLL];

		dns_gate_poll(&rig.g, p);
		CHECK(poll(p, ARRAY_LEN(p), RIG_WAIT_MS) > 0);
		dns_gate_step(&rig.g, p, rig.now_ms);
	}
	CHECK(rig.g.n_live == 0 && rig.g.n_renewals == 0);
}

static struct resolved_name *seen(const char *name)
{
	return resolved_name(&rig.seen, str_of(name));
}

/* Exact names, and of each what its kind of address is; no pattern, nothing
 * that is denied, and not the machine. */
static void at_the_start(void)
{
	rig_open("udp", "ports 1 tcp/443\n"
			"name *.wild.test 1 - g-0000000001\n"
			"name a.test 1 - g-0000000002\n"
			"name b.test 1 - g-0000000003\n"
			"name host - - g-0000000004\n"
			"name no.test 1 - g-0000000005\n"
			"deny no.test d-0000000001\n");
	rig_step();
	upstream_has("a.test", LDNS_RR_TYPE_A, "11.0.0.1");
	upstream_has("b.test", LDNS_RR_TYPE_A, "");
	settle();
	/* of what nobody asked for nothing is told */
	CHECK(rig.n_told == 0 && rig.n_answered == 0 && rig.pins.n == 1);
	rig_step();
	CHECK(rig_is_silent(rig.up) && rig.g.next_exact == 4);
	/* the agent has it at once */
	SAID(rig_ask("a.test", LDNS_RR_TYPE_A), "NOERROR 100 11.0.0.1");
	CHECK(rig_is_silent(rig.up));
	rig_close();
}

static void of_both_kinds(void)
{
	rig_open("udp", "ports 1 tcp/443\nname a.test 1 - g-0000000002\n"
			"name b.test 1 - g-0000000003\n");
	rig.g.ipv6 = true;
	rig_step();
	upstream_has("a.test", LDNS_RR_TYPE_A, "11.0.0.1");
	upstream_has("a.test", LDNS_RR_TYPE_AAAA, "2a0e::1");
	upstream_has("b.test", LDNS_RR_TYPE_A, "11.0.0.2");
	upstream_has("b.test", LDNS_RR_TYPE_AAAA, "2a0e::2");
	settle();
	CHECK(rig.pins.n == 4 && !rig.g.next_aaaa);
	SAID(rig_ask("b.test", LDNS_RR_TYPE_AAAA), "NOERROR 100 2a0e::2");
	rig_close();
}

/* Only so many at a time; the others when one is back. */
static void a_few_at_a_time(void)
{
	char names[2048], name[32];
	size_t n = (size_t)snprintf(names, sizeof(names), "ports 1 tcp/443\n");

	for (unsigned i = 0; i < DNS_GATE_RENEWALS + 2; i++)
		n += (size_t)snprintf(names + n, sizeof(names) - n,
				      "name n%02u.test 1 - g-%010u\n", i, i);
	rig_open("udp", names);
	rig_step();
	for (unsigned i = 0; i < DNS_GATE_RENEWALS; i++) {
		snprintf(name, sizeof(name), "n%02u.test", i);
		SAID(rig_asked(), name);
	}
	rig_step();
	rig_step();
	CHECK(rig_is_silent(rig.up) && rig.g.n_renewals == DNS_GATE_RENEWALS);
	rig_say("n07.test 100 IN A 11.0.0.1");
	upstream_has("n08.test", LDNS_RR_TYPE_A, "11.0.0.2");
	upstream_has("n09.test", LDNS_RR_TYPE_A, "11.0.0.3");
	rig_close();
}

static void tick(int64_t now_ms)
{
	rig.now_ms = now_ms;
	rig.g.tick_ms = now_ms;
	rig_step();
	CHECK(rig.g.tick_ms == now_ms + DNS_GATE_TICK_MS);
}

/* Nine tenths of its time are over, and the agent asked for it meanwhile. */
static void what_is_used(void)
{
	rig_open("udp", "ports 1 tcp/443\nname *.test 1 - g-0000000001\n");
	/* by the address that runs out first */
	SAID(rig_resolve("a.test", LDNS_RR_TYPE_A,
			 "a.test 200 IN A 11.0.0.8;a.test 100 IN A 11.0.0.1;"
			 "a.test 300 IN A 11.0.0.9"),
	     "NOERROR 100 11.0.0.8 11.0.0.1 11.0.0.9");
	CHECK(seen("a.test")->used && seen("a.test")->due_ms[SEEN_A] == 91000 &&
	      seen("a.test")->due_ms[SEEN_AAAA] == 0);
	/* at least a minute, whatever upstream says */
	SAID(rig_resolve("b.test", LDNS_RR_TYPE_A, "b.test 7 IN A 11.0.0.2"),
	     "NOERROR 7 11.0.0.2");
	CHECK(seen("b.test")->due_ms[SEEN_A] == 1000 + 54000);
	seen("b.test")->used = false;
	/* none opens what is no address */
	SAID(rig_resolve("c.test", LDNS_RR_TYPE_TXT, "c.test 100 IN TXT x"),
	     "NOERROR 100 \"x\"");
	CHECK(rig.seen.n_names == 2);
	/* from what is kept: due as it was */
	rig.now_ms = 3000;
	SAID(rig_ask("a.test", LDNS_RR_TYPE_A),
	     "NOERROR 98 11.0.0.8 11.0.0.1 11.0.0.9");
	CHECK(seen("a.test")->due_ms[SEEN_A] == 91000);
	tick(54999);
	CHECK(seen("b.test")->due_ms[SEEN_A] == 55000);
	/* nobody asked for it again: it is let go */
	tick(55000);
	CHECK(seen("b.test")->due_ms[SEEN_A] == 0 && rig_is_silent(rig.up));
	tick(90999);
	CHECK(rig_is_silent(rig.up) && seen("a.test")->used);
	tick(91000);
	upstream_has("a.test", LDNS_RR_TYPE_A, "11.0.0.3");
	settle();
	/* in use is from now on who asks after that */
	CHECK(!seen("a.test")->used &&
	      seen("a.test")->due_ms[SEEN_A] == 91000 + 90000);
	tick(181000);
	CHECK(rig_is_silent(rig.up) && seen("a.test")->due_ms[SEEN_A] == 0);
	CHECK(rig.n_told == 4);
	rig_close();
}

/* What a cidr grant has opened already runs out for nobody; what is left out
 * of an answer is nobody's. */
static void what_is_covered(void)
{
	const struct addr left_out = {ADDR_V4, {10, 2, 0, 1}},
			  covered = {ADDR_V4, {10, 1, 0, 1}};
	struct resolved_name *names[2];

	rig_open("udp", "private 10.0.0.0/8\ncover 10.1.0.0/16\n"
			"ports 1 tcp/443\nname *.test 1 - g-0000000001\n");
	SAID(rig_resolve("a.test", LDNS_RR_TYPE_A,
			 "a.test 100 IN A 10.1.0.1;a.test 200 IN A 11.0.0.1;"
			 "a.test 300 IN A 10.2.0.1"),
	     "NOERROR 100 10.1.0.1 11.0.0.1");
	CHECK(seen("a.test")->due_ms[SEEN_A] == 1000 + 180000);
	CHECK(resolved_names_of(&rig.seen, &covered, names, 2) == 1 &&
	      resolved_names_of(&rig.seen, &left_out, names, 2) == 0);
	rig_close();
}

/* Let go, and asked for again while it is kept: it is planned anew. */
static void used_again(void)
{
	rig_open("udp", "ports 1 tcp/443\nname *.test 1 - g-0000000001\n");
	SAID(rig_resolve("a.test", LDNS_RR_TYPE_A, "a.test 100 IN A 11.0.0.1"),
	     "NOERROR 100 11.0.0.1");
	seen("a.test")->used = false;
	tick(91000);
	CHECK(rig_is_silent(rig.up) && seen("a.test")->due_ms[SEEN_A] == 0);
	rig.now_ms = 95000;
	SAID(rig_ask("a.test", LDNS_RR_TYPE_A), "NOERROR 6 11.0.0.1");
	CHECK(seen("a.test")->used &&
	      seen("a.test")->due_ms[SEEN_A] == 95000 + 54000);
	rig_close();
}

/* On their way when the plan changes: nobody is told of what nobody asked. */
static void changed_meanwhile(void)
{
	rig_open("udp", "ports 1 tcp/443\nname a.test 1 - g-0000000001\n");
	rig_step();
	SAID(rig_asked(), "a.test");
	CHECK(rig.g.n_renewals == 1);
	names_free(&rig.map);
	rig_use_map("udp", "ports 1 tcp/443\nname b.test 1 - g-0000000002\n"
			   "deny a.test d-0000000001\n");
	dns_gate_changed(&rig.g);
	CHECK(rig.g.n_live == 0 && rig.g.n_renewals == 0 && rig.n_told == 0);
	rig_step();
	upstream_has("b.test", LDNS_RR_TYPE_A, "11.0.0.2");
	settle();
	CHECK(rig.pins.n == 1 && strcmp(rig.pins.v[0].name, "b.test") == 0);
	rig_close();
}

/* More exact names than are resolved at the start; by a proxy none has to be.
 */
static void more_than_are_resolved(void)
{
	static char text[64u * (DNS_GATE_NAMES + 4u)];
	struct names_map map;
	struct err err;
	size_t n = (size_t)sprintf(text, "membrane-names 2\nupstream proxy\n"
					 "ports 1 tcp/443\n");

	for (unsigned i = 0; i < DNS_GATE_NAMES + 2; i++)
		n += (size_t)sprintf(text + n, "name n%04u.test 1 - g-%010u\n",
				     i, i);
	CHECK(names_parse(str_of(text), &map, &err) == 0);
	rig_open("proxy", "");
	CHECK(standins_new(&rig.g.standins, &err) == 0);
	rig.g.names = &map;
	rig_step();
	CHECK(rig.g.next_exact == DNS_GATE_NAMES && rig.g.standins->n == 0);
	rig_close();
	names_free(&map);
	/* but for those that go past it */
	rig_open("proxy udp", "past a.test\nports 1 tcp/443\n"
			      "name a.test 1 - g-0000000001\n"
			      "name b.test 1 - g-0000000002\n");
	CHECK(standins_new(&rig.g.standins, &err) == 0);
	rig_step();
	upstream_has("a.test", LDNS_RR_TYPE_A, "11.0.0.1");
	settle();
	CHECK(rig_is_silent(rig.up) && rig.pins.n == 1);
	rig_close();
}

static void renewed_kinds(void)
{
	rig_open("udp", "ports 1 tcp/443\nname *.test 1 - g-0000000001\n");
	rig.g.ipv6 = true;
	SAID(rig_resolve("a.test", LDNS_RR_TYPE_A, "a.test 100 IN A 11.0.0.1"),
	     "NOERROR 100 11.0.0.1");
	SAID(rig_resolve("a.test", LDNS_RR_TYPE_AAAA,
			 "a.test 100 IN AAAA 2a0e::1"),
	     "NOERROR 100 2a0e::1");
	CHECK(seen("a.test")->due_ms[SEEN_AAAA] == 91000);
	tick(91000);
	upstream_has("a.test", LDNS_RR_TYPE_A, "11.0.0.1");
	upstream_has("a.test", LDNS_RR_TYPE_AAAA, "2a0e::1");
	settle();
	/* no room for one more of them: it stays due */
	seen("a.test")->used = true;
	rig.g.n_renewals = DNS_GATE_RENEWALS;
	tick(181000);
	CHECK(rig_is_silent(rig.up) &&
	      seen("a.test")->due_ms[SEEN_A] == 181000 && seen("a.test")->used);
	rig.g.n_renewals = 0;
	/* not granted any more */
	names_free(&rig.map);
	rig_use_map("udp", "ports 1 tcp/443\nname *.test 1 - g-0000000001\n"
			   "deny a.test d-0000000001\n");
	dns_gate_changed(&rig.g);
	tick(182000);
	CHECK(rig_is_silent(rig.up) && rig.g.n_live == 0);
	/* neither granted nor denied any more */
	seen("a.test")->used = true;
	seen("a.test")->due_ms[SEEN_A] = 183000;
	names_free(&rig.map);
	rig_use_map("udp", "ports 1 tcp/443\nname *.other 1 - g-0000000001\n");
	dns_gate_changed(&rig.g);
	tick(183000);
	CHECK(rig_is_silent(rig.up) && rig.g.n_live == 0 &&
	      seen("a.test")->due_ms[SEEN_A] == 0);
	rig_close();
}

int main(void)
{
	at_the_start();
	of_both_kinds();
	a_few_at_a_time();
	what_is_used();
	what_is_covered();
	used_again();
	changed_meanwhile();
	more_than_are_resolved();
	renewed_kinds();
	return check_status();
}
