/* Connections that a person may permit: what becomes of each, who is asked, and
 * what the answer is worth afterwards. */
#include "tests/unit/gate/asking_rig.h"

#define MAP                                                                    \
	"private 10.0.0.0/8\n"                                                 \
	"ports 1 tcp/443\nports 2 tcp/22\nports 3 tcp/8443\n"                  \
	"ports a1 tcp/443\nports a2 tcp/80\n"                                  \
	"name *.test 2,h3 - g-0000000001\n"                                    \
	"name *.in.test 2 private g-0000000002\n"                              \
	"ask **.test a1 60 - - a-0000000001\n"                                 \
	"ask **.in.test a2 30 - private a-0000000002\n"                        \
	"ask **.example a2 60 http - a-0000000003\n"                           \
	"asknet 11.5.0.0/16 a1 60 - a-0000000004\n"                            \
	"deny no.test d-0000000001\n"
#define PROFILES "a1 **.test a-0000000001\na4 11.5.0.0/16 a-0000000004\n"

static void answer(enum asking_end end)
{
	asking_answer(&asking.a, asking.last.number, end, rig.now_ms);
}

/* --- what needs no answer ----------------------------------------------- */

static void granted_ones(void)
{
	int fd;

	asking_begin("udp", MAP, PROFILES);
	asking_stands_in("a.test", "192.0.2.1");
	asking_stands_in("no.test", "192.0.2.2");
	asking_stands_in("x.other", "192.0.2.3");
	asking_stands_in("a.in.test", "192.0.2.4");
	/* to where its name leads, by the door that its grant says */
	fd = asking_says("conn 192.0.2.1 22 40000\n");
	asking_resolves("a.test", "a.test 60 IN A 11.0.0.1");
	SAID(asking_ends(fd), "yes raw 11.0.0.1 1\n");
	SAID(asking_asks("conn 192.0.2.1 8443 40001\n"),
	     "yes strict 11.0.0.1 2\n");
	fd = asking_says("conn 192.0.2.4 22 40000\n");
	asking_resolves("a.in.test", "a.in.test 60 IN A 10.0.0.1");
	SAID(asking_ends(fd), "yes raw 10.0.0.1 3\n");
	SAID(asking_asks("conn 192.0.2.2 22 40002\n"), "no denied\n");
	SAID(asking_asks("conn 192.0.2.3 443 40003\n"), "no no-grant\n");
	SAID(asking_asks("conn 192.0.2.9 443 40003\n"), "no no-grant\n");
	SAID(asking_asks("conn 12.0.0.1 443 40003\n"), "no no-grant\n");
	SAID(asking_asks("conn 192.0.2.1 444 40003\n"), "no no-grant\n");
	CHECK(asking.n_asked == 0 && asking.n_ended == 0);
	/* of that nobody knows an answer */
	CHECK(!asking_question_of(&asking.a, 40000, 22));
	CHECK(asking.a.last_id == 8);
	asking_finish();
}

/* An address that is called may be that of a name which is granted elsewhere.
 */
static void known_addresses(void)
{
	const struct addr a = {ADDR_V4, {11, 0, 0, 9}},
			  b = {ADDR_V4, {11, 0, 0, 8}};

	asking_begin("udp", MAP, PROFILES);
	resolved_addr(&rig.seen, STR("a.test"), &a);
	resolved_addr(&rig.seen, STR("x.example"), &b);
	close(asking_says("conn 11.0.0.9 443 40000\n"));
	CHECK(asking.n_asked == 1 &&
	      strcmp(asking.last.key.name, "a.test") == 0);
	CHECK(asking.last.key.addr.family == 0 && asking.last.key.port == 443 &&
	      strcmp(asking.last.key.rule, "a-0000000001") == 0);
	/* what is only asked about has no address that the agent could know */
	SAID(asking_asks("conn 11.0.0.8 80 40000\n"), "no no-grant\n");
	/* of a network it is the address, whatever is called there */
	resolved_addr(&rig.seen, STR("x.example"),
		      &(struct addr){ADDR_V4, {11, 5, 0, 1}});
	close(asking_says("conn 11.5.0.1 443 40000\n"));
	CHECK(asking.n_asked == 2 && !asking.last.key.name[0] &&
	      asking.last.key.addr.b[1] == 5 &&
	      strcmp(asking.last.key.rule, "a-0000000004") == 0);
	asking_finish();
}

/* Names that go by a proxy have no address but their stand-in. */
static void by_a_proxy(void)
{
	asking_begin("proxy", "ports 1 tcp/443\nname *.test 1 - g-0000000001\n",
		     "");
	asking_stands_in("a.test", "192.0.2.1");
	SAID(asking_asks("conn 192.0.2.1 443 40000\n"),
	     "yes raw 192.0.2.1 1\n");
	CHECK(rig.g.n_live == 0);
	asking_finish();
}

/* What is asked about may go past it, and then has its own addresses. */
static void past_a_proxy(void)
{
	const struct addr a = {ADDR_V4, {11, 0, 0, 1}};
	int fd;

	asking_begin("proxy udp",
		     "past *.direct.test\nports a1 tcp/443\n"
		     "ask **.test a1 60 - - a-0000000001\n",
		     "");
	asking_stands_in("a.direct.test", "192.0.2.1");
	fd = asking_says("conn 192.0.2.1 443 40000\n");
	answer(ASKING_YES);
	asking_resolves("a.direct.test", "a.direct.test 60 IN A 11.0.0.1");
	SAID(asking_ends(fd), "yes raw 11.0.0.1 1\n");
	CHECK(standins_passes(rig.g.standins, &a, rig.now_ms));
	asking_stands_in("a.test", "192.0.2.2");
	fd = asking_says("conn 192.0.2.2 443 40000\n");
	answer(ASKING_YES);
	SAID(asking_ends(fd), "yes raw 192.0.2.2 2\n");
	asking_finish();
}

/* --- the answer --------------------------------------------------------- */

static void answers(void)
{
	static const struct {
		enum asking_end end;
		const char *said, *again;
	} cases[] = {
		{ASKING_NO, "no answered-no\n", "no answered-no\n"},
		{ASKING_NONE, "no not-asked\n", NULL},
		{ASKING_TIMEOUT, "no not-answered\n", NULL},
	};
	int fd;

	asking_begin("udp", MAP, PROFILES);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char name[16], line[64];
		unsigned before = asking.n_asked;

		snprintf(name, sizeof(name), "n%zu.test", i);
		snprintf(line, sizeof(line), "192.0.2.%zu", i + 1);
		asking_stands_in(name, line);
		snprintf(line, sizeof(line), "conn 192.0.2.%zu 443 40000\n",
			 i + 1);
		fd = asking_says(line);
		CHECK(rig_is_silent(fd) && asking.n_asked == before + 1);
		CHECK(asking.sport == 40000 && asking.wait_s == 60 &&
		      strcmp(asking.last.key.name, name) == 0);
		answer(cases[i].end);
		CHECK(asking.n_ended == i + 1 && asking.end == cases[i].end &&
		      asking.ended == asking.last.number);
		SAID(asking_ends(fd), cases[i].said);
		/* an answer that comes too late says nothing */
		answer(ASKING_YES);
		CHECK(asking.n_ended == i + 1);
		if (cases[i].again)
			SAID(asking_asks(line), cases[i].again);
		CHECK(asking.n_asked == before + 1);
	}
	/* it cannot be told, or nobody may be asked */
	asking.tells = false;
	SAID(asking_asks("conn 192.0.2.2 443 40000\n"), "no not-asked\n");
	asking.tells = true;
	asking_listens(&asking.a, false);
	SAID(asking_asks("conn 192.0.2.2 443 40000\n"), "no not-asked\n");
	asking_listens(&asking.a, true);
	CHECK(asking.n_asked == 4 && asking.n_ended == 3);
	CHECK(asking_wait_ms(&asking.a, rig.now_ms) == -1);
	asking_finish();
}

/* Only then its name is asked for; equal ones wait for one answer. */
static void permitted_ones(void)
{
	int first, second;

	asking_begin("udp", MAP, PROFILES);
	asking_stands_in("a.test", "192.0.2.1");
	first = asking_says("conn 192.0.2.1 443 40000\n");
	second = asking_says("conn 192.0.2.1 443 40001\n");
	CHECK(asking.n_asked == 1 && rig.g.n_live == 0);
	answer(ASKING_ONCE);
	CHECK(rig.g.n_live == 1 && asking.end == ASKING_ONCE);
	asking_resolves("a.test", "a.test 60 IN A 11.0.0.1");
	SAID(asking_ends(first), "yes raw 11.0.0.1 1\n");
	SAID(asking_ends(second), "yes raw 11.0.0.1 2\n");
	CHECK(asking_question_of(&asking.a, 40000, 443) &&
	      asking_question_of(&asking.a, 40001, 443)->number == 1);
	CHECK(!asking_question_of(&asking.a, 40000, 80) &&
	      !asking_question_of(&asking.a, 40002, 443));
	/* known also when it is over */
	asking_closed(&asking.a, 40000, 7);
	CHECK(!asking.a.conns[40000].over);
	asking_closed(&asking.a, 40000, 1);
	CHECK(asking.a.conns[40000].over);
	CHECK(asking_question_of(&asking.a, 40000, 443));
	/* once is once; yes is for all that come */
	first = asking_says("conn 192.0.2.1 443 40000\n");
	CHECK(asking.n_asked == 2 && !asking.a.conns[40000].over &&
	      !asking_question_of(&asking.a, 40000, 443));
	answer(ASKING_YES);
	SAID(asking_ends(first), "yes raw 11.0.0.1 3\n");
	SAID(asking_asks("conn 192.0.2.1 443 40002\n"), "yes raw 11.0.0.1 4\n");
	CHECK(asking.n_asked == 2 && asking.n_ended == 2);
	CHECK(asking_question_of(&asking.a, 40002, 443)->number == 2);
	/* where it leads nowhere that may be reached, that is said */
	asking_stands_in("b.test", "192.0.2.2");
	first = asking_says("conn 192.0.2.2 443 40000\n");
	answer(ASKING_YES);
	asking_resolves("b.test", "b.test 60 IN A 10.0.0.1");
	SAID(asking_ends(first), "no upstream\n");
	asking_finish();
}

/* One that may lead to private addresses does not wait for one that may not. */
static void private_ones(void)
{
	int public, private;

	asking_begin("udp", MAP, PROFILES);
	asking_stands_in("a.in.test", "192.0.2.1");
	public = asking_says("conn 192.0.2.1 443 40000\n");
	answer(ASKING_YES);
	private = asking_says("conn 192.0.2.1 80 40001\n");
	CHECK(asking.wait_s == 30);
	answer(ASKING_YES);
	CHECK(rig.g.n_live == 2);
	asking_resolves("a.in.test", "a.in.test 60 IN A 10.0.0.1");
	asking_resolves("a.in.test", "a.in.test 60 IN A 10.0.0.1");
	SAID(asking_ends(public), "no upstream\n");
	SAID(asking_ends(private), "yes raw 10.0.0.1 2\n");
	asking_finish();
}

/* Two names on their way: each has its own address. */
static void two_names(void)
{
	int first, second;

	asking_begin("udp", MAP, PROFILES);
	asking_stands_in("a.test", "192.0.2.1");
	asking_stands_in("b.test", "192.0.2.2");
	first = asking_says("conn 192.0.2.1 22 40000\n");
	second = asking_says("conn 192.0.2.2 22 40001\n");
	asking_resolves("a.test", "a.test 60 IN A 11.0.0.1");
	SAID(asking_ends(first), "yes raw 11.0.0.1 1\n");
	CHECK(rig_is_silent(second));
	asking_resolves("b.test", "b.test 60 IN A 11.0.0.2");
	SAID(asking_ends(second), "yes raw 11.0.0.2 2\n");
	asking_finish();
}

/* Of an address there is no name to ask for. */
static void networks(void)
{
	int fd, other;

	asking_begin("udp", MAP, PROFILES);
	/* who called a name before that is another one */
	asking_stands_in("no.test", "192.0.2.1");
	SAID(asking_asks("conn 192.0.2.1 443 40000\n"), "no denied\n");
	fd = asking_says("conn 11.5.0.1 443 40000\n");
	answer(ASKING_YES);
	SAID(asking_ends(fd), "yes raw 11.5.0.1 2\n");
	SAID(asking_asks("conn 11.5.0.1 443 40001\n"), "yes raw 11.5.0.1 3\n");
	close(asking_says("conn 11.5.0.2 443 40001\n"));
	CHECK(asking.n_asked == 2 && rig.g.n_live == 0);
	/* nor is a client that is gone told of it, or its port taken */
	fd = asking_says("conn 11.5.0.3 443 40005\n");
	other = asking_says("conn 11.5.0.3 443 40006\n");
	close(fd);
	asking_settle();
	answer(ASKING_YES);
	SAID(asking_ends(other), "yes raw 11.5.0.3 6\n");
	CHECK(!asking_question_of(&asking.a, 40005, 443));
	/* nor need there be any that stand in for names */
	rig.g.standins = NULL;
	SAID(asking_asks("conn 11.5.0.1 443 40001\n"), "yes raw 11.5.0.1 7\n");
	asking_finish();
}

/* A name that leads there is granted somewhere, and nothing asks about it: the
 * network does. */
static void networks_of_names(void)
{
	const struct addr a = {ADDR_V4, {11, 5, 0, 1}};

	asking_begin("udp",
		     "ports 2 tcp/22\nports a1 tcp/443\n"
		     "name *.test 2 - g-0000000001\n"
		     "asknet 11.5.0.0/16 a1 60 - a-0000000004\n",
		     "");
	resolved_addr(&rig.seen, STR("a.test"), &a);
	close(asking_says("conn 11.5.0.1 443 40000\n"));
	CHECK(asking.n_asked == 1 && !asking.last.key.name[0] &&
	      addr_eq(&asking.last.key.addr, &a));
	asking_finish();
}

/* Descriptor 0 is one like any other. */
static void without_input(void)
{
	int fd;

	asking_begin("udp", MAP, PROFILES);
	fd = asking_connect();
	CHECK(close(STDIN_FILENO) == 0 &&
	      send(fd, "conn 11.5.0.1 443 40000\n", 24, 0) == 24);
	asking_settle();
	CHECK(asking.a.slots[0].fd == STDIN_FILENO && asking.n_asked == 1 &&
	      asking.n_ended == 0 && rig_is_silent(fd));
	answer(ASKING_ONCE);
	SAID(asking_ends(fd), "yes raw 11.5.0.1 1\n");
	CHECK(open("/dev/null", O_RDONLY) == STDIN_FILENO);
	asking_finish();
}

/* Where nobody may ask there is nothing to wait for. */
static void not_open(void)
{
	static struct pollfd p[ASKING_POLL];
	static struct asking none;
	struct err err;

	CHECK(asking_open(&none, "/nowhere/at/all", &err) < 0);
	asking_poll(&none, p);
	for (size_t i = 0; i < ASKING_POLL; i++)
		CHECK(p[i].fd == -1 && p[i].revents == 0);
	asking_step(&none, p, 0);
	CHECK(asking_wait_ms(&none, 0) == -1);
}

/* --- time --------------------------------------------------------------- */

static void times(void)
{
	int fd, other;

	asking_begin("udp", MAP, PROFILES);
	asking_stands_in("a.test", "192.0.2.1");
	fd = asking_says("conn 192.0.2.1 443 40000\n");
	CHECK(asking_wait_ms(&asking.a, rig.now_ms) == ASKING_BEAT_MS);
	rig.now_ms += ASKING_BEAT_MS - 1;
	(void)asking_step_until(-1);
	CHECK(rig_is_silent(fd));
	/* so that its client is looked for */
	rig.now_ms++;
	(void)asking_step_until(-1);
	SAID(asking_hears(fd), "wait\n");
	CHECK(rig_is_silent(fd) &&
	      asking_wait_ms(&asking.a, rig.now_ms) == ASKING_BEAT_MS);
	/* who comes later has no time of its own */
	rig.now_ms += 30000;
	other = asking_says("conn 192.0.2.1 443 40001\n");
	SAID(asking_hears(fd), "wait\n");
	rig.now_ms = 1000 + 59999;
	(void)asking_step_until(-1);
	SAID(asking_hears(other), "wait\n");
	CHECK(asking.n_ended == 0);
	CHECK(asking_wait_ms(&asking.a, rig.now_ms) == 1);
	rig.now_ms++;
	(void)asking_step_until(-1);
	CHECK(asking.n_ended == 1 && asking.end == ASKING_TIMEOUT);
	SAID(asking_hears(fd), "wait\nno not-answered\n");
	SAID(asking_ends(other), "no not-answered\n");
	close(fd);
	/* it may be asked again */
	close(asking_says("conn 192.0.2.1 443 40002\n"));
	CHECK(asking.n_asked == 2);
	asking_finish();
}

/* The last who waits is gone: nobody has to be asked any more. */
static void gone_ones(void)
{
	int first, second;

	asking_begin("udp", MAP, PROFILES);
	asking_stands_in("a.test", "192.0.2.1");
	first = asking_says("conn 192.0.2.1 443 40000\n");
	second = asking_says("conn 192.0.2.1 443 40001\n");
	close(first);
	asking_settle();
	CHECK(asking.n_ended == 0);
	/* its slot is another's at once, who is told nothing */
	close(second);
	first = asking_connect();
	asking_settle();
	CHECK(asking.n_ended == 1 && asking.end == ASKING_GONE &&
	      asking.ended == 1);
	CHECK(rig_is_silent(first));
	close(first);
	CHECK(asking_wait_ms(&asking.a, rig.now_ms) == -1);
	/* likewise while its name is asked for */
	asking_settle();
	first = asking_says("conn 192.0.2.1 443 40000\n");
	answer(ASKING_ONCE);
	CHECK(asking.n_ended == 2);
	close(first);
	second = asking_connect();
	asking_settle();
	asking_resolves("a.test", "a.test 60 IN A 11.0.0.1");
	CHECK(rig_step_found(1) && rig_is_silent(second));
	CHECK(asking.a.waiters[0].state == WAITER_FREE);
	close(second);
	asking_finish();
}

/* --- what is no line ---------------------------------------------------- */

static void lines(void)
{
	static char flood[ASK_LINE_MAX + 1];
	int fd;

	asking_begin("udp", MAP, PROFILES);
	SAID(asking_asks("conn 12.0.0.1 443\n"), "");
	SAID(asking_asks("\n"), "");
	/* what is not whole is waited for */
	fd = asking_says("conn 12.0.0.1 443 4");
	CHECK(rig_is_silent(fd) && send(fd, "0000\n", 5, 0) == 5);
	SAID(asking_ends(fd), "no no-grant\n");
	/* it has asked, and says more */
	fd = asking_says("conn 11.5.0.1 443 40000\n");
	CHECK(asking.n_asked == 1 && send(fd, "x", 1, 0) == 1);
	SAID(asking_ends(fd), "");
	asking_settle();
	CHECK(asking.n_ended == 1 && asking.end == ASKING_GONE);
	/* no end of it; one byte less may yet be a line */
	memset(flood, 'x', sizeof(flood));
	fd = asking_connect();
	CHECK(send(fd, flood, ASK_LINE_MAX - 1, 0) == ASK_LINE_MAX - 1);
	asking_settle();
	CHECK(rig_is_silent(fd) && send(fd, flood, 1, 0) == 1);
	SAID(asking_ends(fd), "");
	/* numbers begin anew, but not at none */
	asking.a.last_id = UINT32_MAX;
	fd = asking_says("conn 11.5.0.1 443 40000\n");
	answer(ASKING_ONCE);
	SAID(asking_ends(fd), "yes raw 11.5.0.1 1\n");
	asking_finish();
}

/* More than may wait: the rest is for who is answered at once. */
static void too_many(void)
{
	static int fds[ASKING_WAITERS];

	asking_begin("udp", MAP, PROFILES);
	for (size_t i = 0; i < ASKING_WAITERS; i++)
		fds[i] = asking_says("conn 11.5.0.1 443 40000\n");
	CHECK(asking.n_asked == 1 && rig_is_silent(fds[ASKING_WAITERS - 1]));
	SAID(asking_asks("conn 11.5.0.1 443 40001\n"), "no too-many\n");
	SAID(asking_asks("conn 12.0.0.1 443 40001\n"), "no no-grant\n");
	close(fds[0]);
	asking_settle();
	fds[0] = asking_says("conn 11.5.0.1 443 40001\n");
	CHECK(rig_is_silent(fds[0]));
	/* another plan that says the same: they wait on */
	asking_changed(&asking.a, rig.now_ms);
	CHECK(rig_is_silent(fds[0]) && rig_is_silent(fds[ASKING_WAITERS - 1]) &&
	      asking.n_asked == 1);
	answer(ASKING_NO);
	for (size_t i = 0; i < ASKING_WAITERS; i++)
		SAID(asking_ends(fds[i]), "no answered-no\n");
	CHECK(asking.n_asked == 1 && asking.n_ended == 1);
	asking_finish();
}

/* Whose line is not whole yet is heard by the plan that is there when it is. */
static void half_a_line(void)
{
	static const char rest[] = "443 40000\n";
	int fd;

	asking_begin("udp", MAP, PROFILES);
	fd = asking_says("conn 11.5.0.1 ");
	asking_changed(&asking.a, rig.now_ms);
	CHECK(send(fd, rest, strlen(rest), 0) == (ssize_t)strlen(rest));
	asking_settle();
	CHECK(asking.n_asked == 1);
	answer(ASKING_ONCE);
	SAID(asking_ends(fd), "yes raw 11.5.0.1 1\n");
	asking_finish();
}

/* How a question ends has a word; those of the launcher's are read. */
static void words(void)
{
	static const char *const all[] = {"once",    "yes",  "no",     "none",
					  "timeout", "gone", "decided"};

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		enum asking_end end = ASKING_DECIDED;

		SAID(asking_end_text((enum asking_end)i), all[i]);
		CHECK(asking_end_parse(str_of(all[i]), &end) ==
		      (i <= ASKING_NONE));
		CHECK(end == (i <= ASKING_NONE ? i : ASKING_DECIDED));
	}
}

int main(void)
{
	words();
	granted_ones();
	known_addresses();
	by_a_proxy();
	past_a_proxy();
	answers();
	permitted_ones();
	private_ones();
	two_names();
	networks();
	networks_of_names();
	without_input();
	not_open();
	times();
	gone_ones();
	lines();
	too_many();
	half_a_line();
	CHECK(rmdir(asking_dir) == 0);
	return check_status();
}
