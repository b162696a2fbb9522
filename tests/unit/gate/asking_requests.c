/* Requests and hellos that a person may permit, and what another plan makes of
 * all that waits. */
#include "tests/unit/gate/asking_rig.h"

#define MAP                                                                    \
	"private 10.0.0.0/8\n"                                                 \
	"ports 1 tcp/443\nports 2 tcp/22\n"                                    \
	"ports a1 tcp/443\nports a2 tcp/80,tcp/8443\n"                         \
	"name *.open.test 1 - g-0000000001\n"                                  \
	"name *.http.test h1 - g-0000000002\n"                                 \
	"ask **.http.test a1 60 http - a-0000000001\n"                         \
	"ask **.example a1 60 - - a-0000000002\n"                              \
	"ask **.example a2 60 http - a-0000000003\n"                           \
	"asknet 11.5.0.0/16 a1 60 - a-0000000004\n"                            \
	"deny no.example d-0000000001\n"
#define PROFILES                                                               \
	"a1 **.http.test a-0000000001\na2 **.example a-0000000002\n"           \
	"a3 **.example a-0000000003\na4 11.5.0.0/16 a-0000000004\n"

static void answer(enum asking_end end)
{
	asking_answer(&asking.a, asking.last.number, end, rig.now_ms);
}

#define HELLO(addr, port, sport, name)                                         \
	asking_asks("hello " addr " " port " " sport " " name "\n")

/* --- a hello: is a connection to that name answered? -------------------- */

static void hellos(void)
{
	int fd;

	asking_begin("udp", MAP, PROFILES);
	asking_stands_in("a.example", "192.0.2.1");
	SAID(HELLO("192.0.2.1", "443", "40000", "a.example"), "no -\n");
	fd = asking_says("conn 192.0.2.1 443 40000\n");
	SAID(HELLO("192.0.2.1", "443", "40000", "a.example"), "no -\n");
	answer(ASKING_ONCE);
	asking_resolves("a.example", "a.example 60 IN A 11.0.0.1");
	SAID(asking_ends(fd), "yes raw 11.0.0.1 2\n");
	/* by that connection, to that name and port, and no other */
	SAID(HELLO("192.0.2.1", "443", "40000", "a.example"), "yes a2\n");
	SAID(HELLO("192.0.2.1", "443", "40000", "b.example"), "no -\n");
	SAID(HELLO("192.0.2.1", "8443", "40000", "a.example"), "no -\n");
	SAID(HELLO("192.0.2.1", "443", "40001", "a.example"), "no -\n");
	asking_closed(&asking.a, 40000, 2);
	SAID(HELLO("192.0.2.1", "443", "40000", "a.example"), "no -\n");
	/* yes is for all that come */
	fd = asking_says("conn 192.0.2.1 443 40000\n");
	answer(ASKING_YES);
	SAID(asking_ends(fd), "yes raw 11.0.0.1 9\n");
	SAID(HELLO("192.0.2.1", "443", "40001", "a.example"), "yes a2\n");
	SAID(HELLO("192.0.2.1", "443", "40000", "b.example"), "no -\n");
	/* of an address it is, whatever name is said */
	fd = asking_says("conn 11.5.0.1 443 40005\n");
	answer(ASKING_ONCE);
	SAID(asking_ends(fd), "yes raw 11.5.0.1 12\n");
	SAID(HELLO("11.5.0.1", "443", "40005", "what.test"), "yes a4\n");
	SAID(HELLO("11.5.0.2", "443", "40005", "what.test"), "no -\n");
	CHECK(asking.n_asked == 3);
	asking_finish();
}

/* --- a request ---------------------------------------------------------- */

#define REQUEST(port, name, what)                                              \
	asking_says("request 192.0.2.1 " port " 40000 " what " " name          \
		    " https GET /x\n")

static void requests(void)
{
	int first, second, other;

	asking_begin("udp", MAP, PROFILES);
	asking_stands_in("a.example", "192.0.2.1");
	/* the connection goes on, for nothing but requests */
	SAID(asking_asks("conn 192.0.2.1 8443 40000\n"),
	     "yes strict 192.0.2.1 1\n");
	CHECK(asking.n_asked == 0);
	first = asking_says("request 192.0.2.1 8443 40000 a3 a.example https "
			    "GET /x\n");
	second = asking_says("request 192.0.2.1 8443 40001 a3 a.example https "
			     "GET /x\n");
	other = asking_says("request 192.0.2.1 8443 40001 a3 a.example http "
			    "PUT /y\n");
	CHECK(asking.n_asked == 2 && asking.sport == 40001 &&
	      !asking.last.key.tls &&
	      strcmp(asking.last.key.method, "PUT") == 0 &&
	      strcmp(asking.last.key.path, "/y") == 0 &&
	      strcmp(asking.last.key.name, "a.example") == 0 &&
	      strcmp(asking.last.key.rule, "a-0000000003") == 0);
	CHECK(asking.a.questions.v[0].key.tls);
	answer(ASKING_NO);
	SAID(asking_ends(other), "no answered-no\n");
	/* it hears nothing while it waits */
	rig.now_ms += ASKING_BEAT_MS;
	(void)asking_step_until(-1);
	CHECK(rig_is_silent(first));
	asking_answer(&asking.a, 1, ASKING_YES, rig.now_ms);
	asking_resolves("a.example", "a.example 60 IN A 11.0.0.1");
	SAID(asking_ends(first), "yes 11.0.0.1\n");
	SAID(asking_ends(second), "yes 11.0.0.1\n");
	/* of one request nothing follows for others */
	SAID(asking_ends(REQUEST("8443", "a.example", "a3")), "yes 11.0.0.1\n");
	close(asking_says("request 192.0.2.1 8443 40000 a3 a.example https "
			  "GET /z\n"));
	SAID(HELLO("192.0.2.1", "8443", "40000", "a.example"), "no -\n");
	CHECK(asking.n_asked == 3);
	asking_finish();
}

static void requests_without_a_question(void)
{
	int fd;

	asking_begin("udp", MAP, PROFILES);
	asking_stands_in("a.example", "192.0.2.1");
	SAID(asking_ends(REQUEST("443", "no.example", "a2")), "no denied\n");
	SAID(asking_ends(REQUEST("443", "a.other", "a2")), "no no-grant\n");
	SAID(asking_ends(REQUEST("443", "a.example", "a9")), "no no-grant\n");
	/* of an HAProxy that has the plan before: it is granted now */
	fd = REQUEST("443", "a.open.test", "a2");
	asking_resolves("a.open.test", "a.open.test 60 IN A 11.0.0.3");
	SAID(asking_ends(fd), "yes 11.0.0.3\n");
	/* what is granted to HTTP alone has rules of its own */
	close(REQUEST("443", "a.http.test", "a1"));
	CHECK(asking.n_asked == 1);
	asking_settle();
	/* refused with its connection; permitted with it */
	close(asking_says("conn 192.0.2.1 443 40000\n"));
	answer(ASKING_NO);
	SAID(asking_ends(REQUEST("443", "a.example", "a2")),
	     "no answered-no\n");
	asking_stands_in("b.example", "192.0.2.2");
	fd = asking_says("conn 192.0.2.2 443 40001\n");
	answer(ASKING_ONCE);
	asking_resolves("b.example", "b.example 60 IN A 11.0.0.2");
	SAID(asking_ends(fd), "yes raw 11.0.0.2 8\n");
	SAID(asking_asks("request 192.0.2.2 443 40001 a2 b.example http GET "
			 "/\n"),
	     "yes 11.0.0.2\n");
	CHECK(asking.n_asked == 3);
	asking_finish();
}

/* --- another plan ------------------------------------------------------- */

static void use_map(const char *rest)
{
	names_free(&rig.map);
	rig_use_map("udp", rest);
	dns_gate_changed(&rig.g);
	asking_changed(&asking.a, rig.now_ms);
	(void)asking_step_until(-1);
}

/* Whoever answers for more than once changes the plan first, and says so then.
 */
static void decided_by_a_plan(void)
{
	int fd;

	asking_begin("udp", MAP, PROFILES);
	asking_stands_in("a.example", "192.0.2.1");
	/* nothing changes for it: it waits on */
	fd = asking_says("conn 192.0.2.1 443 40000\n");
	use_map(MAP);
	CHECK(rig_is_silent(fd) && asking.n_asked == 1 && asking.n_ended == 0);
	CHECK(!asking.a.questions.v[0].decided &&
	      asking.a.questions.v[0].deadline_ms == 61000);
	/* denied: it is told at once, and the question has a while yet */
	use_map("deny **.example d-0000000002\n");
	SAID(asking_ends(fd), "no denied\n");
	CHECK(asking.n_ended == 0 && asking.a.questions.v[0].decided &&
	      asking.a.questions.v[0].deadline_ms == 1000 + ASKING_GRACE_MS);
	rig.now_ms += ASKING_GRACE_MS - 1;
	(void)asking_step_until(-1);
	CHECK(asking.n_ended == 0);
	rig.now_ms++;
	(void)asking_step_until(-1);
	CHECK(asking.n_ended == 1 && asking.end == ASKING_DECIDED);
	/* granted: it goes on; the launcher's answer comes in time */
	use_map(MAP);
	fd = asking_says("conn 192.0.2.1 443 40000\n");
	use_map("ports 1 tcp/443\nname *.example 1 - g-0000000001\n");
	asking_resolves("a.example", "a.example 60 IN A 11.0.0.1");
	SAID(asking_ends(fd), "yes raw 11.0.0.1 2\n");
	answer(ASKING_YES);
	CHECK(asking.n_ended == 2 && asking.end == ASKING_YES);
	/* by a grant it goes on: until it is answered nobody has said yes */
	asking_stands_in("b.example", "192.0.2.2");
	use_map(MAP);
	fd = asking_says("conn 192.0.2.2 443 40000\n");
	use_map("ports 1 tcp/443\nports a1 tcp/443\n"
		"name *.example 1 - g-0000000001\n"
		"ask **.example a1 60 - - a-0000000002\n");
	asking_resolves("b.example", "b.example 60 IN A 11.0.0.2");
	SAID(asking_ends(fd), "yes raw 11.0.0.2 3\n");
	SAID(HELLO("192.0.2.2", "443", "40000", "b.example"), "no -\n");
	answer(ASKING_YES);
	SAID(HELLO("192.0.2.2", "443", "40000", "b.example"), "yes a2\n");
	asking_finish();
}

/* Another rule asks about it: that is another question. */
static void asked_by_another_rule(void)
{
	int fd;

	asking_begin("udp", MAP, PROFILES);
	asking_stands_in("a.example", "192.0.2.1");
	fd = asking_says("conn 192.0.2.1 443 40000\n");
	use_map("ports a1 tcp/443\nask **.example a1 20 - - a-0000000009\n");
	CHECK(rig_is_silent(fd) && asking.n_asked == 2 && asking.wait_s == 20 &&
	      strcmp(asking.last.key.rule, "a-0000000009") == 0);
	CHECK(asking.a.questions.v[0].decided &&
	      !asking.a.questions.v[1].decided);
	rig.now_ms += ASKING_GRACE_MS;
	(void)asking_step_until(-1);
	CHECK(asking.n_ended == 1 && asking.ended == 1 &&
	      asking.end == ASKING_DECIDED);
	answer(ASKING_NO);
	SAID(asking_hears(fd), "wait\nno answered-no\n");
	close(fd);
	asking_finish();
}

/* Of two that were answered the one counts by which the connection came. */
static void answered_by_another_rule(void)
{
	int fd;

	asking_begin("udp", MAP, "a9 **.example a-0000000009\n");
	asking_stands_in("a.example", "192.0.2.1");
	fd = asking_says("conn 192.0.2.1 443 40000\n");
	answer(ASKING_YES);
	asking_resolves("a.example", "a.example 60 IN A 11.0.0.1");
	SAID(asking_ends(fd), "yes raw 11.0.0.1 1\n");
	use_map("ports a1 tcp/443\nask **.example a1 20 - - a-0000000009\n");
	fd = asking_says("conn 192.0.2.1 443 40000\n");
	CHECK(asking.n_asked == 2);
	answer(ASKING_YES);
	asking_resolves("a.example", "a.example 60 IN A 11.0.0.1");
	SAID(asking_ends(fd), "yes raw 11.0.0.1 2\n");
	SAID(HELLO("192.0.2.1", "443", "40000", "a.example"), "yes a9\n");
	asking_finish();
}

/* A grant that is a question now finds no room where all wait already. */
static void no_room_after_a_plan(void)
{
	static int fds[ASKING_WAITERS];
	int fd;

	asking_begin("udp", MAP, PROFILES);
	asking_stands_in("a.open.test", "192.0.2.1");
	fd = asking_connect();
	asking_settle();
	for (size_t i = 0; i < ASKING_WAITERS; i++)
		fds[i] = asking_says("conn 11.5.0.1 443 40000\n");
	CHECK(send(fd, "conn 192.0.2.1 443 40001\n", 25, 0) == 25);
	asking_settle();
	CHECK(rig.g.n_live == 1 && rig_is_silent(fd));
	use_map("ports a1 tcp/443\nask **.test a1 60 - - a-0000000007\n"
		"asknet 11.5.0.0/16 a1 60 - a-0000000004\n");
	SAID(asking_ends(fd), "no too-many\n");
	for (size_t i = 0; i < ASKING_WAITERS; i++) {
		CHECK(rig_is_silent(fds[i]));
		close(fds[i]);
	}
	asking_finish();
}

/* What its connection permitted goes on by that, though it is over by now. */
static void while_a_request_resolves(void)
{
	int fd;

	asking_begin("udp", MAP, PROFILES);
	asking_stands_in("a.example", "192.0.2.1");
	fd = asking_says("conn 192.0.2.1 443 40000\n");
	answer(ASKING_ONCE);
	asking_resolves("a.example", "a.example 60 IN A 11.0.0.1");
	SAID(asking_ends(fd), "yes raw 11.0.0.1 1\n");
	rig.now_ms += 120000;
	fd = REQUEST("443", "a.example", "a2");
	CHECK(rig.g.n_live == 1 && asking_step_until(rig.up));
	SAID(rig_asked(), "a.example");
	asking_closed(&asking.a, 40000, 1);
	use_map(MAP);
	asking_resolves("a.example", "a.example 60 IN A 11.0.0.2");
	SAID(asking_ends(fd), "yes 11.0.0.2\n");
	CHECK(asking.n_asked == 1);
	asking_finish();
}

/* One that has little time left gets no more. */
static void decided_at_the_end(void)
{
	int fd;

	asking_begin("udp", MAP, PROFILES);
	fd = asking_says("conn 11.5.0.1 443 40000\n");
	rig.now_ms += 59000;
	use_map("ports 1 tcp/443\n");
	CHECK(asking.a.questions.v[0].decided &&
	      asking.a.questions.v[0].deadline_ms == 61000);
	SAID(asking_ends(fd), "no no-grant\n");
	asking_finish();
}

/* What was permitted and waits for its address: by the plan that there is. */
static void while_it_resolves(void)
{
	static const struct {
		const char *map, *said;
		bool resolves;
	} cases[] = {
		{MAP, "yes raw 11.0.0.2 1\n", true},
		{"deny **.example d-0000000002\n", "no denied\n", false},
		{"ports 1 tcp/443\n", "no no-grant\n", false},
		{"ports a1 tcp/80\nask **.example a1 60 - - a-0000000009\n",
		 "no no-grant\n", false},
		/* the rule has the same name and asks for less */
		{"ports a1 tcp/80\nask **.example a1 60 - - a-0000000002\n",
		 "yes raw 11.0.0.2 1\n", true},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		int fd;

		asking_begin("udp", MAP, PROFILES);
		asking_stands_in("a.example", "192.0.2.1");
		fd = asking_says("conn 192.0.2.1 443 40000\n");
		answer(ASKING_ONCE);
		CHECK(rig.g.n_live == 1);
		CHECK(asking_step_until(rig.up));
		SAID(rig_asked(), "a.example");
		use_map(cases[i].map);
		if (cases[i].resolves)
			asking_resolves("a.example",
					"a.example 60 IN A 11.0.0.2");
		SAID(asking_ends(fd), cases[i].said);
		CHECK(asking.n_asked == 1);
		asking_finish();
	}
}

/* Two that wait for one name: it is asked for again, and both go on. */
static void while_two_resolve(void)
{
	int first, second;

	asking_begin("udp", MAP, PROFILES);
	asking_stands_in("a.example", "192.0.2.1");
	first = asking_says("conn 192.0.2.1 443 40000\n");
	second = asking_says("conn 192.0.2.1 443 40001\n");
	answer(ASKING_ONCE);
	CHECK(asking_step_until(rig.up));
	SAID(rig_asked(), "a.example");
	use_map(MAP);
	asking_resolves("a.example", "a.example 60 IN A 11.0.0.2");
	SAID(asking_ends(first), "yes raw 11.0.0.2 1\n");
	SAID(asking_ends(second), "yes raw 11.0.0.2 2\n");
	asking_finish();
}

/* A grant's own, which no question is behind. */
static void while_a_grant_resolves(void)
{
	int fd, gone;

	asking_begin("udp", MAP, PROFILES);
	asking_stands_in("a.open.test", "192.0.2.1");
	fd = asking_says("conn 192.0.2.1 443 40000\n");
	gone = asking_says("conn 192.0.2.1 443 40001\n");
	CHECK(rig.g.n_live == 1);
	SAID(rig_asked(), "a.open.test");
	close(gone);
	use_map("ports a1 tcp/443\nask **.test a1 60 - - a-0000000007\n");
	/* it is asked about now */
	CHECK(rig_is_silent(fd) && asking.n_asked == 1 && rig.g.n_live == 0);
	asking_settle();
	CHECK(asking.n_ended == 0);
	answer(ASKING_ONCE);
	asking_resolves("a.open.test", "a.open.test 60 IN A 11.0.0.5");
	SAID(asking_ends(fd), "yes raw 11.0.0.5 1\n");
	asking_finish();
}

int main(void)
{
	hellos();
	requests();
	requests_without_a_question();
	decided_by_a_plan();
	asked_by_another_rule();
	answered_by_another_rule();
	no_room_after_a_plan();
	decided_at_the_end();
	while_it_resolves();
	while_two_resolve();
	while_a_request_resolves();
	while_a_grant_resolves();
	CHECK(rmdir(asking_dir) == 0);
	return check_status();
}
