/* What waits for a person: lines of HAProxy's and the launcher's, questions. */
#include "runtime/gate/ask/asking.h"
#include "runtime/gate/dns/dns_flight.h"
#include "runtime/gate/told.h"

#include "tests/check.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static struct questions q;

/* --- lines ----------------------------------------------------------------- */

static void reads_lines(void)
{
	struct ask_line l;

	CHECK(ask_line_parse(STR("conn 203.0.113.9 443 40000"), &l));
	CHECK(l.kind == ASK_CONN && l.port == 443 && l.sport == 40000 &&
	      !l.name[0]);
	CHECK(ask_line_parse(STR("hello 2001:db8::1 443 1 a.test"), &l));
	CHECK(l.kind == ASK_HELLO && l.addr.family == ADDR_V6 &&
	      strcmp(l.name, "a.test") == 0);
	CHECK(ask_line_parse(
		STR("request 11.0.0.1 80 65535 a12 a.test https PURGE /x?y=%20"),
		&l));
	CHECK(l.tls && l.port == 80 && l.sport == 65535 &&
	      strcmp(l.name, "a.test") == 0);
	CHECK(l.kind == ASK_REQUEST && strcmp(l.token, "a12") == 0 &&
	      strcmp(l.method, "PURGE") == 0 &&
	      strcmp(l.path, "/x?y=%20") == 0);
	/* the first and the last byte that can be seen */
	CHECK(ask_line_parse(STR("request 11.0.0.1 80 1 !~ a~! http ! ~"), &l));
	CHECK(!l.tls && strcmp(l.token, "!~") == 0 &&
	      strcmp(l.name, "a~!") == 0 && strcmp(l.method, "!") == 0 &&
	      strcmp(l.path, "~") == 0);
}

static void refuses_lines(void)
{
	static const char *const bad[] = {
		"",
		"conn",
		"conn ",
		"conn 11.0.0.1 443",
		"conn 11.0.0.1 443 40000 ",
		"conn 11.0.0.1 443 40000 more",
		"conn  11.0.0.1 443 40000",
		"conn 11.0.0.1 0 40000",
		"conn 11.0.0.1 443 65536",
		"conn 11.0.0 443 40000",
		"conn a.test 443 40000",
		"Conn 11.0.0.1 443 40000",
		"hello 11.0.0.1 443 40000",
		"hello 11.0.0.1 443 40000 a.test b.test",
		"hello 11.0.0.1 443 40000 a\ttest",
		"hello 11.0.0.1 443 40000  ",
		"request 11.0.0.1 80 1",
		"request 11.0.0.1 80 1 a1",
		"request 11.0.0.1 80 1 a1 a.test",
		"request 11.0.0.1 80 1 a1 a.test https",
		"request 11.0.0.1 80 1  a.test https GET /",
		"request 11.0.0.1 80 1 a1  https GET /",
		"request 11.0.0.1 80 1 a1 a.test  GET /",
		"request 11.0.0.1 80 1 a1 a.test https  /",
		"request 11.0.0.1 80 1 a1 a.test https GET",
		"request 11.0.0.1 80 1 a1 a.test GET /",
		"request 11.0.0.1 80 1 a1 a.test ftp GET /",
		"request 11.0.0.1 80 1 a1 a.test https GET /x y",
		"request 11.0.0.1 80 1 a1 a.test https GET /x\ny",
		"request 11.0.0.1 80 1 a1 a.test https GET /\x7f",
		"request 11.0.0.1 80 1 a1 a.test https GET /\xc3\xa9",
		"request 11.0.0.1 80 1 a234567890123456 a.test https GET /",
		"answer 1 yes",
	};
	char text[ASK_LINE_MAX + LIMIT_NAME_BYTES + 64];
	struct ask_line l = {.port = 7};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		CHECK(!ask_line_parse(str_of(bad[i]), &l));
	CHECK(!ask_line_parse(STR("conn 1.1.1.1 1 1\0"), &l));
	CHECK(l.port == 7);
	/* As long as they may be, and one byte longer. */
	for (int more = 0; more < 2; more++) {
		snprintf(text, sizeof(text), "hello 11.0.0.1 1 1 %0*d",
			 (int)LIMIT_NAME_BYTES + more, 0);
		CHECK(ask_line_parse(str_of(text), &l) == !more);
		snprintf(text, sizeof(text),
			 "request 11.0.0.1 1 1 a1 n https M /%0*d",
			 (int)ASK_PATH_MAX - 1 + more, 0);
		CHECK(ask_line_parse(str_of(text), &l) == !more);
		snprintf(text, sizeof(text), "request 11.0.0.1 1 1 a1 n https %0*d /",
			 (int)ASK_METHOD_MAX + more, 0);
		CHECK(ask_line_parse(str_of(text), &l) == !more);
		snprintf(text, sizeof(text),
			 "request 11.0.0.1 1 1 a1 %0*d https M /",
			 (int)LIMIT_NAME_BYTES + more, 0);
		CHECK(ask_line_parse(str_of(text), &l) == !more);
	}
}

/* Of no bytes none is read: there is no memory. */
static void no_line(void)
{
	const size_t page = 65536; /* at least one */
	char *p =
		mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ask_line l;

	CHECK(p != MAP_FAILED && !ask_line_parse((struct str){p + 8, 0}, &l));
	CHECK(munmap(p, page) == 0);
}

static void hears_the_launcher(void)
{
	static const char *const bad[] = {
		"",	       "answer",	"answer ",
		"answer 1",    "answer 0 yes",	"answer 1 yes ",
		"answer 1 gone", "answer 1 timeout", "answer -1 no",
		"answer 4294967296 no", "asking", "asking maybe",
		"asking on off", "change 1 keep", "change 2", "change 2 kept",
		"renewed 1 {}",
	};
	struct worker_msg m;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		CHECK(!told_parse(str_of(bad[i]), &m));
	CHECK(told_parse(STR("change 2 cut"), &m) && m.word == WORKER_CHANGE &&
	      m.generation == 2 && m.cut);
	CHECK(told_parse(STR("change 3 keep"), &m) && !m.cut);
	CHECK(told_parse(STR("asking on"), &m) && m.word == WORKER_LISTENS &&
	      m.listens);
	CHECK(told_parse(STR("asking off"), &m) && !m.listens);
	CHECK(told_parse(STR("answer 7 once"), &m) && m.word == WORKER_ANSWER &&
	      m.question == 7 && m.end == ASKING_ONCE);
	CHECK(told_parse(STR("answer 7 yes"), &m) && m.end == ASKING_YES);
	CHECK(told_parse(STR("answer 7 no"), &m) && m.end == ASKING_NO);
	CHECK(told_parse(STR("answer 7 none"), &m) && m.end == ASKING_NONE);
}

/* --- questions -------------------------------------------------------------- */

static struct question_key key_of(const char *name, const char *path)
{
	struct question_key k = {.rule = "a-0123456789", .port = 443};

	snprintf(k.name, sizeof(k.name), "%s", name);
	if (path[0]) {
		snprintf(k.method, sizeof(k.method), "GET");
		snprintf(k.path, sizeof(k.path), "%s", path);
	}
	return k;
}

static enum reason ask(const char *name, const char *path, int64_t now_ms,
		       struct question **x, bool *is_new)
{
	struct question_key k = key_of(name, path);

	return questions_ask(&q, &k, 60, now_ms, x, is_new);
}

static void begin(bool on)
{
	memset(&q, 0, sizeof(q));
	q.on = on;
}

static void asks_nobody(void)
{
	struct question *x;
	bool is_new;

	begin(false);
	CHECK(ask("a.test", "", 0, &x, &is_new) == REASON_NOT_ASKED && !x &&
	      !is_new);
	CHECK(questions_next_ms(&q) == -1);
}

static void equal_ones_are_one(void)
{
	struct question *x, *y;
	bool is_new;

	begin(true);
	CHECK(ask("a.test", "", 0, &x, &is_new) == REASON_ASK && is_new);
	CHECK(ask("a.test", "", 9, &y, &is_new) == REASON_ASK && !is_new &&
	      y == x);
	CHECK(ask("a.test", "/a", 9, &y, &is_new) == REASON_ASK && is_new);
	CHECK(ask("a.test", "/b", 9, &y, &is_new) == REASON_ASK && is_new);
	CHECK(ask("b.test", "", 9, &y, &is_new) == REASON_ASK && is_new);
	CHECK(y->number == 4 && questions_next_ms(&q) == 60000);
	CHECK(!questions_due(&q, 59999) && questions_due(&q, 60000) == x);
	questions_settle(x, QUESTION_FREE);
	CHECK(ask("a.test", "", 60000, &y, &is_new) == REASON_ASK && is_new &&
	      y->number == 5);
}

static void answers_hold(void)
{
	struct question *x, *y;
	struct question_key k = key_of("n.test", "");
	struct addr none = {0};
	bool is_new;

	begin(true);
	CHECK(ask("y.test", "", 0, &x, &is_new) == REASON_ASK);
	CHECK(!questions_answered(&q, "y.test", &none, 443));
	questions_settle(x, QUESTION_YES);
	CHECK(ask("y.test", "", 0, &y, &is_new) == REASON_ANSWERED && y == x &&
	      !is_new);
	CHECK(questions_answered(&q, "y.test", &none, 443) == x);
	CHECK(!questions_answered(&q, "y.test", &none, 80));
	CHECK(!questions_answered(&q, "z.test", &none, 443));
	/* of one request nothing follows for others */
	CHECK(ask("r.test", "/x", 0, &x, &is_new) == REASON_ASK);
	questions_settle(x, QUESTION_YES);
	CHECK(!questions_answered(&q, "r.test", &none, 443));
	CHECK(ask("n.test", "", 0, &x, &is_new) == REASON_ASK);
	CHECK(!questions_refused(&q, &k));
	questions_settle(x, QUESTION_NO);
	CHECK(ask("n.test", "", 0, &y, &is_new) == REASON_ANSWERED_NO && !y);
	CHECK(questions_refused(&q, &k));
	questions_settle(x, QUESTION_YES); /* too late */
	CHECK(x->state == QUESTION_NO);
	/* once: found by its number, and asked again */
	CHECK(ask("o.test", "", 0, &x, &is_new) == REASON_ASK);
	questions_settle(x, QUESTION_ONCE);
	CHECK(questions_find(&q, x->number) == x && !questions_find(&q, 0));
	CHECK(!questions_answered(&q, "o.test", &none, 443));
	CHECK(ask("o.test", "", 0, &y, &is_new) == REASON_ASK && is_new);
	/* what was answered counts where nobody is asked any more */
	q.on = false;
	CHECK(ask("y.test", "", 0, &y, &is_new) == REASON_ANSWERED);
	CHECK(ask("other.test", "", 0, &y, &is_new) == REASON_NOT_ASKED);
}

/* Of an address it is that, whatever name is said there; each part tells
 * questions apart. */
static void what_is_the_same(void)
{
	const struct question_key base = {.rule = "a-0123456789",
					  .name = "a.test",
					  .port = 443,
					  .tls = true,
					  .method = "GET",
					  .path = "/"};
	const struct addr one = {ADDR_V4, {11, 0, 0, 1}},
			  two = {ADDR_V4, {11, 0, 0, 2}};
	struct question_key keys[8];
	struct question *x, *y;
	bool is_new;

	begin(true);
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		keys[i] = base;
	keys[1].rule[0] = 'b';
	keys[2].name[0] = 'b';
	keys[3].port = 80;
	keys[4].tls = false;
	keys[5].method[0] = 'P';
	keys[6].path[0] = '*';
	keys[7].addr = one;
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		CHECK(questions_ask(&q, &keys[i], 60, 0, &x, &is_new) ==
			      REASON_ASK &&
		      is_new);
		CHECK(questions_ask(&q, &keys[i], 60, 0, &y, &is_new) ==
			      REASON_ASK &&
		      !is_new && x == y);
	}
	keys[0] = (struct question_key){.addr = one, .port = 443};
	CHECK(questions_ask(&q, &keys[0], 60, 0, &x, &is_new) == REASON_ASK);
	questions_settle(x, QUESTION_YES);
	CHECK(questions_answered(&q, "what.test", &one, 443) == x &&
	      !questions_answered(&q, "what.test", &two, 443) &&
	      !questions_answered(&q, "", &two, 443));
}

/* The next is the one whose time is over first, wherever it stands. */
static void which_is_next(void)
{
	struct question_key k = key_of("a.test", "");
	struct question *first, *second, *third;
	bool is_new;

	begin(true);
	CHECK(questions_ask(&q, &k, 60, -60000, &first, &is_new) == REASON_ASK);
	k.port = 1;
	CHECK(questions_ask(&q, &k, 30, 0, &second, &is_new) == REASON_ASK);
	k.port = 2;
	CHECK(questions_ask(&q, &k, 45, 0, &third, &is_new) == REASON_ASK);
	CHECK(questions_next_ms(&q) == 0);
	questions_settle(first, QUESTION_NO);
	CHECK(questions_next_ms(&q) == 30000);
	CHECK(!questions_due(&q, 29999) && questions_due(&q, 30000) == second);
	questions_settle(second, QUESTION_YES);
	CHECK(questions_next_ms(&q) == 45000 && !questions_due(&q, 44999));
	k.port = 3;
	CHECK(questions_ask(&q, &k, 20, 0, &first, &is_new) == REASON_ASK);
	CHECK(questions_next_ms(&q) == 20000);
	k.port = 4;
	CHECK(questions_ask(&q, &k, 10, 0, &second, &is_new) == REASON_ASK);
	CHECK(questions_next_ms(&q) == 10000);
	questions_settle(first, QUESTION_FREE);
	questions_settle(second, QUESTION_FREE);
	questions_settle(third, QUESTION_FREE);
	CHECK(questions_next_ms(&q) == -1 && !questions_due(&q, INT64_MAX));
	CHECK(!questions_find(&q, 3) && questions_find(&q, 2));
}

/* What is lost where there is no room: what was for once, then the oldest. */
static void what_is_lost(void)
{
	struct question *x;
	char name[32];
	bool is_new;

	begin(true);
	for (unsigned i = 0; i < QUESTIONS_MAX; i++) {
		snprintf(name, sizeof(name), "l%u.test", i);
		CHECK(ask(name, "", i * INT64_C(1000), &x, &is_new) ==
		      REASON_ASK);
		questions_settle(x, i == 7 ? QUESTION_ONCE
				 : i % 2   ? QUESTION_YES
					   : QUESTION_NO);
	}
	CHECK(questions_find(&q, 8));
	CHECK(ask("new.test", "", 1000000, &x, &is_new) == REASON_ASK);
	questions_settle(x, QUESTION_NO);
	CHECK(!questions_find(&q, 8) && questions_find(&q, 1));
	for (unsigned i = 0; i < 3; i++) {
		CHECK(questions_find(&q, i + 1));
		snprintf(name, sizeof(name), "new%u.test", i);
		CHECK(ask(name, "", 2000000, &x, &is_new) == REASON_ASK);
		questions_settle(x, QUESTION_YES);
		CHECK(!questions_find(&q, i + 1) && questions_find(&q, i + 2));
	}
	/* again one for once, though what is behind it is older */
	CHECK(ask("once.test", "", 3000000, &x, &is_new) == REASON_ASK);
	questions_settle(x, QUESTION_ONCE);
	CHECK(!questions_find(&q, 4));
	CHECK(ask("last.test", "", 4000000, &x, &is_new) == REASON_ASK);
	CHECK(!questions_find(&q, x->number - 1) && questions_find(&q, 5));
}

static void bounds_a_flood(void)
{
	struct question *x, *yes;
	unsigned asked = 0, many = 0;
	char name[32];
	bool is_new;

	begin(true);
	CHECK(ask("yes.test", "", 0, &yes, &is_new) == REASON_ASK);
	questions_settle(yes, QUESTION_YES);
	/* 100,000 in the same minute, the first of which are answered at once */
	for (unsigned i = 0; i < 100000; i++) {
		enum reason why;

		snprintf(name, sizeof(name), "n%u.test", i);
		why = ask(name, "", 1 + i / 2000, &x, &is_new);

		asked += why == REASON_ASK;
		many += why == REASON_TOO_MANY;
		if (why == REASON_ASK && asked <= 20)
			questions_settle(x, QUESTION_ONCE);
	}
	CHECK(asked == 20 + QUESTIONS_OPEN && many == 100000 - asked);
	CHECK(ask("yes.test", "", 60, &x, &is_new) == REASON_ANSWERED);
	/* so many in a minute, however quickly they are answered */
	begin(true);
	for (unsigned i = 0; i < QUESTIONS_A_MINUTE; i++) {
		snprintf(name, sizeof(name), "m%u.test", i);
		CHECK(ask(name, "", i * 10, &x, &is_new) == REASON_ASK);
		questions_settle(x, QUESTION_ONCE);
	}
	CHECK(ask("more.test", "", 59999, &x, &is_new) == REASON_TOO_MANY);
	CHECK(ask("more.test", "", 60000, &x, &is_new) == REASON_ASK);
	CHECK(ask("most.test", "", 60001, &x, &is_new) == REASON_TOO_MANY);
	/* room is taken from the oldest, never from what is open */
	begin(true);
	CHECK(ask("open.test", "", 0, &yes, &is_new) == REASON_ASK);
	for (unsigned i = 0; i < 2 * QUESTIONS_MAX; i++) {
		snprintf(name, sizeof(name), "l%u.test", i);
		CHECK(ask(name, "", i * INT64_C(60000), &x, &is_new) ==
		      REASON_ASK);
		questions_settle(x, QUESTION_NO);
	}
	CHECK(yes->state == QUESTION_OPEN && yes->number == 1);
	/* it is counted so far as it matters, and no further */
	CHECK(q.n_asked >= QUESTIONS_A_MINUTE &&
	      q.n_asked < 2 * QUESTIONS_A_MINUTE);
	CHECK(ask("l0.test", "", 1, &x, &is_new) != REASON_ANSWERED_NO);
	CHECK(ask(name, "", 1, &x, &is_new) == REASON_ANSWERED_NO);
}

/* --- names that addresses stand in for --------------------------------------- */

static struct {
	unsigned refused, other;
	char name[LIMIT_NAME_BYTES + 1]; /* of the last refusal */
} told;

static void take_record(void *data, const struct record *r)
{
	(void)data;
	told.refused += r->kind == RECORD_RESOLVE && !r->allow &&
			r->reason == REASON_NO_STAND_IN;
	told.other += !r->allow && r->reason != REASON_NO_STAND_IN;
	if (!r->allow)
		snprintf(told.name, sizeof(told.name), "%s", r->names[0]);
}

static void take_error(void *data, const char *message)
{
	(void)data;
	CHECK_MSG(false, "%s", message);
}

/* Whether the name has an address then; its client is not there any more. */
static bool stands_in(struct dns_gate *g, const char *name, int64_t now_ms)
{
	unsigned before = told.refused;
	struct dns_flight *f = dns_flight_new(g);

	f->from = DNS_FROM_TCP;
	g->clients[0].fd = -1;
	CHECK(dns_msg_query_for(name, LDNS_RR_TYPE_A, &f->q));
	(void)names_match(g->names, str_of(name), &f->match);
	dns_flight_stand_in(g, f, now_ms);
	return told.refused == before;
}

/* So many names in twenty minutes; whoever asks for more is told why not. */
static void names_beyond_the_bound(void)
{
	static struct resolved seen;
	static struct pins pins;
	static struct dns_gate g;
	const struct names_hosts hosts = {0};
	struct names_map map;
	struct err err;
	char name[32];

	/* of a name that opens nothing: there is no kernel's set here */
	CHECK(names_parse(STR("membrane-names 2\nupstream proxy\n"
			      "name **.test - - g-0123456789\n"),
			  &map, &err) == 0);
	resolved_init(&seen);
	pins_init(&pins, "pins.map");
	g = (struct dns_gate){.names = &map,
			      .hosts = &hosts,
			      .seen = &seen,
			      .pins = &pins,
			      .on_record = take_record,
			      .on_error = take_error};
	CHECK(standins_new(&g.standins, &err) == 0);
	for (unsigned i = 0; i < STANDINS_MAX; i++) {
		snprintf(name, sizeof(name), "n%u.test", i);
		CHECK(stands_in(&g, name, 1000 + i));
	}
	CHECK(told.refused == 0 && told.other == 0);
	CHECK(!stands_in(&g, "more.test", 2000));
	CHECK(told.refused == 1 && told.other == 0 &&
	      strcmp(told.name, "more.test") == 0);
	/* those that have one keep it, and make nobody's younger */
	CHECK(stands_in(&g, "n761.test", 1000 + STANDINS_KEEP_MS - 1));
	CHECK(!stands_in(&g, "more.test", 1000 + STANDINS_KEEP_MS - 1));
	/* one is free again, and one alone */
	CHECK(stands_in(&g, "more.test", 1000 + STANDINS_KEEP_MS));
	CHECK(!stands_in(&g, "most.test", 1000 + STANDINS_KEEP_MS));
	CHECK(told.refused == 3 && told.other == 0);
	names_free(&map);
}

/* --- how long it waits ----------------------------------------------------- */

static void wakes_for_what_is_next(void)
{
	static struct asking a;

	CHECK(asking_wait_ms(&a, 100) == -1);
	a.open = true;
	CHECK(asking_wait_ms(&a, 100) == -1);
	a.questions.v[3] = (struct question){.state = QUESTION_OPEN,
					     .deadline_ms = 500};
	CHECK(asking_wait_ms(&a, 100) == 400);
	/* a client of HTTP hears nothing meanwhile */
	a.waiters[2] = (struct waiter){.state = WAITER_ASKS,
				       .line.kind = ASK_REQUEST,
				       .beat_ms = 300};
	CHECK(asking_wait_ms(&a, 100) == 400);
	a.waiters[2].line.kind = ASK_CONN;
	CHECK(asking_wait_ms(&a, 100) == 200);
	a.waiters[2].beat_ms = 700;
	CHECK(asking_wait_ms(&a, 100) == 400);
	CHECK(asking_wait_ms(&a, 501) == 0);
	a.questions.v[3].state = QUESTION_NO;
	CHECK(asking_wait_ms(&a, 501) == 199);
	/* the beginning of time is one like any other */
	a.questions.v[3] = (struct question){.state = QUESTION_OPEN};
	CHECK(asking_wait_ms(&a, 0) == 0 && asking_wait_ms(&a, -5) == 5);
}

int main(void)
{
	reads_lines();
	refuses_lines();
	no_line();
	hears_the_launcher();
	asks_nobody();
	equal_ones_are_one();
	answers_hold();
	what_is_the_same();
	which_is_next();
	what_is_lost();
	bounds_a_flood();
	names_beyond_the_bound();
	wakes_for_what_is_next();
	return check_status();
}
