/* names.map: what matches, what it opens, and what becomes of an address. */
#include "runtime/gate/plan/names.h"

#include "tests/check.h"

#include <string.h>
#include <sys/mman.h>

#define HEAD "membrane-names 2\nupstream udp 8.8.8.8 53\n"
#define ONE  HEAD "ports 1 tcp/443\n"
#define ASK  ONE "ports a1 tcp/80,tcp/443\n"

static struct err err;

static const char map_text[] = HEAD "floor 127.0.0.0/8\n"
				    "private 10.0.0.0/8\n"
				    "private 11.0.0.0/8\n"
				    "cover 10.1.0.0/16\n"
				    "ports 1 tcp/443,udp/8000-8999\n"
				    "ports 2 udp/53\n"
				    "ports 3 tcp/22\n"
				    "ports 5 tcp/80\n"
				    "ports 7 tcp/443\n"
				    "ports 9 tcp/443\n"
				    "name **.deep.test 3 - g-0000000003\n"
				    "name *.*.two.test 9 - g-0000000009\n"
				    "name *.one.test 2 - g-0000000002\n"
				    "name a.one.test 7 - g-0000000007\n"
				    "name exact.test 1 - g-0000000001\n"
				    "name exact.test 5 private g-0000000005\n"
				    "name inner.test - private g-0000000006\n";

static bool matches(const struct names_map *map, const char *name,
		    uint32_t n_lines)
{
	struct names_match m;
	bool any = names_match(map, str_of(name), &m);

	return any == (n_lines > 0) && m.n_lines == n_lines;
}

static void match(void)
{
	struct names_map map;
	struct names_match m;

	CHECK(names_parse(str_of(map_text), &map, &err) == 0);
	CHECK(matches(&map, "exact.test", 2));
	CHECK(matches(&map, "x.exact.test", 0));
	CHECK(matches(&map, "xexact.test", 0));
	CHECK(matches(&map, "exact.tes", 0));
	CHECK(matches(&map, "test", 0));
	CHECK(matches(&map, "", 0) && !names_pattern_has(STR("*"), STR("")));
	CHECK(matches(&map, "one.test", 0));
	CHECK(matches(&map, "b.one.test", 1));
	CHECK(matches(&map, "a.one.test", 2));
	CHECK(matches(&map, "b.a.one.test", 0));
	CHECK(matches(&map, "bone.test", 0));
	CHECK(matches(&map, "two.test", 0));
	CHECK(matches(&map, "a.two.test", 0));
	CHECK(matches(&map, "a.b.two.test", 1));
	CHECK(matches(&map, "a.b.c.two.test", 0));
	CHECK(matches(&map, "deep.test", 0));
	CHECK(matches(&map, "a.deep.test", 1));
	CHECK(matches(&map, "c.b.a.deep.test", 1));
	CHECK(matches(&map, "adeep.test", 0));
	CHECK(names_match(&map, STR("a.one.test"), &m));
	CHECK(str_is(m.lines[0]->id, "g-0000000007"));
	CHECK(names_class_next(&m.classes, 1) == 2 &&
	      names_class_next(&m.classes, 3) == 7 &&
	      names_class_next(&m.classes, 8) == 0);
	names_free(&map);
	CHECK(names_parse(STR(ONE "name ** 1 - g-0123456789\n"), &map, &err) ==
	      0);
	CHECK(matches(&map, "anything.at.all", 1));
	CHECK(matches(&map, "", 0));
	names_free(&map);
}

/* A pattern is compared from its end to where it begins, and no further. */
static void edge_of_a_pattern(void)
{
	const size_t page = 65536; /* at least one */
	char *p = mmap(NULL, 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);

	CHECK(p != MAP_FAILED &&
	      mprotect(p + page, page, PROT_READ | PROT_WRITE) == 0);
	memcpy(p + page, "b", 2);
	CHECK(!names_pattern_has((struct str){p + page, 1}, STR("a.b")));
	CHECK(!names_pattern_has(STR("a.b"), (struct str){p + page, 1}));
	CHECK(munmap(p, 2 * page) == 0);
}

/* Sets of their own, beside those of the grant. */
static void guards(void)
{
	struct names_map map;
	struct names_match m;

	CHECK(names_parse(STR(HEAD "ports 3 tcp/443\nports d2 tcp/22\n"
				   "ports q4 tcp/443\n"
				   "name **.test 3 - g-0123456789\n"
				   "guard *.test d2 d-0123456789\n"
				   "guard a.test q4 d-0123456789\n"),
			  &map, &err) == 0);
	CHECK(names_match(&map, STR("a.test"), &m));
	CHECK(names_class_next(&m.classes, 1) == 3 &&
	      names_class_next(&m.classes, 4) == 2 * LIMIT_CLASSES + 2 &&
	      names_class_next(&m.classes, 2 * LIMIT_CLASSES + 3) ==
		      3 * LIMIT_CLASSES + 4);
	CHECK(names_class_has(&m.classes_private, 2 * LIMIT_CLASSES + 2));
	CHECK(names_match(&map, STR("b.test"), &m));
	CHECK(!names_class_has(&m.classes, 3 * LIMIT_CLASSES + 4));
	/* what is asked about has them, too: the grant's own go */
	names_only_asked(&m);
	CHECK(names_class_next(&m.classes, 1) == 2 * LIMIT_CLASSES + 2 &&
	      names_class_next(&m.classes_private, 1) == 2 * LIMIT_CLASSES + 2);
	names_free(&map);
}

/* The ports of a line's classes; "h" is no grant of what is not HTTP. */
static void permits(void)
{
	struct names_map map;
	struct names_match m;

	CHECK(names_parse(STR(HEAD "ports 1 tcp/443,udp/8000-8999\n"
				   "ports 2 udp/53\nports 3 tcp/80\n"
				   "name a.test 1,2,h3 - g-0123456789\n"),
			  &map, &err) == 0);
	CHECK(names_match(&map, STR("a.test"), &m));
	CHECK(names_permits(&map, m.lines[0], "tcp", 443));
	CHECK(!names_permits(&map, m.lines[0], "udp", 443));
	CHECK(!names_permits(&map, m.lines[0], "tcp", 444));
	CHECK(names_permits(&map, m.lines[0], "udp", 8000));
	CHECK(names_permits(&map, m.lines[0], "udp", 8999));
	CHECK(!names_permits(&map, m.lines[0], "udp", 9000));
	CHECK(names_permits(&map, m.lines[0], "udp", 53));
	CHECK(!names_permits(&map, m.lines[0], "tcp", 80));
	CHECK(!names_permits(&map, m.lines[0], "icmp", 443));
	names_free(&map);
}

/* Of each kind the last class there can be, and the lines that open a port. */
static void openings(void)
{
	struct names_map map;
	struct names_match m;
	bool http = false;

	CHECK(names_parse(STR(HEAD "ports 1 tcp/80\nports 2 tcp/443\n"
				   "ports 255 tcp/25\nports 256 tcp/22\n"
				   "ports a1 tcp/81\n"
				   "name both.test 1,h2 - g-0000000001\n"
				   "name both.test 2,h1 - g-0000000002\n"
				   "name http.test h1 - g-0000000003\n"
				   "name http.test h1 - g-0000000004\n"
				   "name last.test 256 - g-0000000005\n"
				   "name web.test h256 - g-0000000006\n"
				   "ask ** a1 60 - - a-0000000001\n"),
			  &map, &err) == 0);
	/* whoever has it without a condition has it, in any order */
	CHECK(names_opens(&map, STR("both.test"), 80, &http) && !http);
	http = true;
	CHECK(names_opens(&map, STR("both.test"), 443, &http) && !http);
	CHECK(names_opens(&map, STR("http.test"), 80, &http) && http);
	CHECK(!names_opens(&map, STR("http.test"), 443, &http) &&
	      !names_opens(&map, STR("http.test"), 81, &http));
	CHECK(names_opens(&map, STR("last.test"), 22, &http) && !http);
	CHECK(!names_opens(&map, STR("last.test"), 25, &http));
	CHECK(names_match(&map, STR("last.test"), &m) &&
	      names_permits(&map, m.lines[0], "tcp", 22) &&
	      !names_permits(&map, m.lines[0], "tcp", 25));
	CHECK(names_opens(&map, STR("web.test"), 22, &http) && http);
	CHECK(names_match(&map, STR("web.test"), &m) &&
	      !names_permits(&map, m.lines[0], "tcp", 22));
	CHECK(!names_opens(&map, STR("no.test"), 80, &http));
	names_free(&map);
}

/* More lines match than are remembered: counted are all. */
/* Of one name in the order of their ids, however they were written. */
static void order_of_lines(void)
{
	struct names_map map;
	struct names_match m;

	CHECK(names_parse(STR(ONE "name a.test 1 - g-0000000002\n"
				  "name a.test 1 - g-0000000001\n"),
			  &map, &err) == 0);
	CHECK(names_match(&map, STR("a.test"), &m) && m.n_lines == 2 &&
	      str_is(m.lines[0]->id, "g-0000000001") &&
	      str_is(m.lines[1]->id, "g-0000000002"));
	names_free(&map);
}

static void many_matches(void)
{
	static char text[4096];
	size_t n = (size_t)sprintf(text, ONE);
	struct names_map map;
	struct names_match m;
	bool http;

	for (unsigned i = 0; i < NAMES_MATCH_MAX + 3; i++)
		n += (size_t)sprintf(text + n, "name a.test 1 - g-%010u\n", i);
	CHECK(names_parse(str_of(text), &map, &err) == 0);
	CHECK(names_match(&map, STR("a.test"), &m) &&
	      m.n_lines == NAMES_MATCH_MAX + 3 && !m.ask && !m.past);
	for (unsigned i = 0; i < NAMES_MATCH_MAX; i++)
		CHECK(m.lines[i] == &map.exact[i]);
	CHECK(names_opens(&map, STR("a.test"), 443, &http));
	CHECK(!names_opens(&map, STR("a.test"), 80, &http));
	names_free(&map);
}

/* Numbers of classes begin with 1, and end. */
static void classes(void)
{
	struct {
		struct names_classes before, c, behind;
	} x;

	memset(&x, 0xff, sizeof(x));
	CHECK(!names_class_has(&x.c, 0) && names_class_has(&x.c, 1) &&
	      names_class_has(&x.c, NAMES_CLASSES_MAX) &&
	      !names_class_has(&x.c, NAMES_CLASSES_MAX + 1));
	CHECK(names_class_next(&x.c, 0) == 0 && names_class_next(&x.c, 1) == 1);
	CHECK(names_class_next(&x.c, NAMES_CLASSES_MAX) == NAMES_CLASSES_MAX &&
	      names_class_next(&x.c, NAMES_CLASSES_MAX + 1) == 0);
	for (unsigned k = 1; k <= NAMES_CLASSES_MAX; k++) {
		struct names_classes one = {{0}};

		one.w[(k - 1) / 64] = UINT64_C(1) << ((k - 1) % 64);
		CHECK(names_class_next(&one, 1) == k);
	}
}

static enum names_verdict judge(const struct names_map *map, const char *name,
				const char *text, unsigned *out_first)
{
	struct names_hosts hosts = {0};
	struct names_classes classes = {0};
	struct names_match m;
	enum names_verdict v;
	struct addr a;

	CHECK(addr_parse(STR("192.0.2.77"), &a));
	CHECK(names_hosts_add(&hosts, &a));
	CHECK(names_match(map, str_of(name), &m));
	CHECK(addr_parse(str_of(text), &a));
	v = names_judge(map, &m, &hosts, &a, &classes);
	*out_first = names_class_next(&classes, 1);
	return v;
}

/* H-6 */
static void machine(void)
{
	struct names_map map;
	unsigned k;

	CHECK(names_parse(STR(HEAD "cover 192.0.0.0/24\ncover 192.0.0.5/32\n"
				   "ports 1 tcp/443\n"
				   "name a.test 1 private g-0123456789\n"),
			  &map, &err) == 0);
	CHECK(judge(&map, "a.test", "192.0.0.9", &k) == NAMES_OPEN);
	CHECK(judge(&map, "a.test", "192.0.0.5", &k) == NAMES_FLOOR);
	names_free(&map);
	/* a grant that is about it opens nothing for names */
	CHECK(names_parse(STR(HEAD "floor 192.0.0.0/24\ncover 192.0.0.5/32\n"
				   "ports 1 tcp/443\n"
				   "name a.test 1 private g-0123456789\n"),
			  &map, &err) == 0);
	CHECK(judge(&map, "a.test", "192.0.0.5", &k) == NAMES_FLOOR);
	names_free(&map);
}

/* S-1, S-2 */
static void judges(void)
{
	struct names_map map;
	unsigned k;

	CHECK(names_parse(str_of(map_text), &map, &err) == 0);
	CHECK(judge(&map, "b.one.test", "192.0.2.1", &k) == NAMES_OPEN &&
	      k == 2);
	CHECK(judge(&map, "b.one.test", "10.2.0.1", &k) == NAMES_PRIVATE);
	CHECK(judge(&map, "b.one.test", "10.1.0.1", &k) == NAMES_COVERED);
	/* the map can call more private than addr_scope() does */
	CHECK(judge(&map, "b.one.test", "11.0.0.1", &k) == NAMES_PRIVATE);
	/* and cannot leave anything out */
	CHECK(judge(&map, "b.one.test", "192.168.1.1", &k) == NAMES_PRIVATE);
	CHECK(judge(&map, "b.one.test", "100.64.0.1", &k) == NAMES_PRIVATE);
	CHECK(judge(&map, "b.one.test", "fd12::1", &k) == NAMES_PRIVATE);
	CHECK(judge(&map, "b.one.test", "64:ff9b::a00:1", &k) == NAMES_PRIVATE);
	CHECK(judge(&map, "b.one.test", "2002:a00:1::1", &k) == NAMES_PRIVATE);
	CHECK(judge(&map, "exact.test", "192.0.2.1", &k) == NAMES_OPEN &&
	      k == 1);
	CHECK(judge(&map, "exact.test", "10.1.0.1", &k) == NAMES_OPEN &&
	      k == 5);
	CHECK(judge(&map, "inner.test", "10.9.0.1", &k) == NAMES_OPEN &&
	      k == 0);
	CHECK(judge(&map, "exact.test", "127.0.0.1", &k) == NAMES_FLOOR);
	CHECK(judge(&map, "exact.test", "169.254.169.254", &k) == NAMES_FLOOR);
	CHECK(judge(&map, "exact.test", "::ffff:8.8.8.8", &k) == NAMES_FLOOR);
	CHECK(judge(&map, "exact.test", "fe80::1", &k) == NAMES_FLOOR);
	CHECK(judge(&map, "exact.test", "192.0.0.1", &k) == NAMES_FLOOR);
	CHECK(judge(&map, "exact.test", "192.0.2.77", &k) == NAMES_HOST);
	names_free(&map);
}

/* A network of the floor is closed, but where a longer grant is about it; the
 * machine's own addresses are closed there, too. */
static void floors(void)
{
	struct names_map map;
	unsigned k;

	CHECK(names_parse(STR(HEAD "floor 11.0.0.0/8\nfloor 11.7.0.0/16\n"
				   "floor 192.0.2.0/24\n"
				   "cover 11.1.0.0/16\ncover 11.7.0.0/16\n"
				   "cover 11.7.8.0/24\ncover 192.0.2.0/25\n"
				   "ports 1 tcp/443\n"
				   "name a.test 1 private g-0123456789\n"),
			  &map, &err) == 0);
	CHECK(judge(&map, "a.test", "11.0.0.1", &k) == NAMES_FLOOR);
	CHECK(judge(&map, "a.test", "11.1.0.1", &k) == NAMES_COVERED && k == 0);
	CHECK(judge(&map, "a.test", "11.7.0.1", &k) == NAMES_FLOOR);
	CHECK(judge(&map, "a.test", "11.7.8.1", &k) == NAMES_COVERED);
	CHECK(judge(&map, "a.test", "192.0.2.78", &k) == NAMES_COVERED);
	CHECK(judge(&map, "a.test", "192.0.2.77", &k) == NAMES_HOST);
	CHECK(judge(&map, "a.test", "12.0.0.1", &k) == NAMES_OPEN && k == 1);
	names_free(&map);
	/* the longest counts, wherever it stands */
	CHECK(names_parse(STR(HEAD "floor 11.7.0.0/16\nfloor 11.0.0.0/8\n"
				   "cover 11.0.0.0/12\nports 1 tcp/443\n"
				   "name a.test 1 - g-0123456789\n"),
			  &map, &err) == 0);
	CHECK(judge(&map, "a.test", "11.7.0.1", &k) == NAMES_FLOOR);
	CHECK(judge(&map, "a.test", "11.1.0.1", &k) == NAMES_COVERED);
	names_free(&map);
	CHECK(names_parse(STR(HEAD "floor 0.0.0.0/0\ncover 12.0.0.0/8\n"
				   "ports 1 tcp/443\n"
				   "name a.test 1 - g-0123456789\n"),
			  &map, &err) == 0);
	CHECK(judge(&map, "a.test", "11.0.0.1", &k) == NAMES_FLOOR);
	CHECK(judge(&map, "a.test", "12.0.0.1", &k) == NAMES_COVERED);
	CHECK(judge(&map, "a.test", "2a0e::1", &k) == NAMES_OPEN);
	names_free(&map);
}

static void hosts(void)
{
	struct names_hosts h = {0};
	struct addr a = {.family = ADDR_V4};

	for (unsigned i = 0; i < NAMES_HOSTS_MAX; i++) {
		a.b[3] = (uint8_t)i;
		CHECK(names_hosts_add(&h, &a));
	}
	CHECK(names_hosts_add(&h, &a) && h.n == NAMES_HOSTS_MAX);
	a.b[2] = 1;
	CHECK(!names_hosts_add(&h, &a));
}

/* What may be asked: by name, by address, by the order of the lines. */
static void asks(void)
{
	static const char text[] =
		HEAD "ports 1 tcp/443\nports 2 tcp/22\nports d1 tcp/25\n"
		     "ports a1 tcp/443\nports a2 tcp/1-65535\n"
		     "name own.test 2,h1 - g-0000000001\n"
		     "ask **.docs.test a1 30 - - a-0000000001\n"
		     "ask ** a2 60 http private a-0000000002\n"
		     "asknet 10.0.0.0/8 a1 60 - a-0000000003\n"
		     "guard **.docs.test d1 d-0000000001\n";
	const struct names_ask *ask;
	struct names_match m;
	struct names_map map;
	struct addr addr;
	bool http = false;

	if (names_parse(str_of(text), &map, &err) < 0) {
		CHECK_MSG(false, "%s", err.text);
		return;
	}
	CHECK(!names_match(&map, STR("a.docs.test"), &m) && m.ask);
	CHECK(m.ask && str_is(m.ask->line.id, "a-0000000001"));
	CHECK(names_class_has(&m.classes, 4 * LIMIT_CLASSES + 1) &&
	      names_class_has(&m.classes, 4 * LIMIT_CLASSES + 2) &&
	      names_class_has(&m.classes, 2 * LIMIT_CLASSES + 1));
	CHECK(!names_class_has(&m.classes_private, 4 * LIMIT_CLASSES + 1) &&
	      names_class_has(&m.classes_private, 4 * LIMIT_CLASSES + 2));
	/* of what is granted, too, the rest can be asked about */
	CHECK(names_match(&map, STR("own.test"), &m) && m.ask &&
	      names_class_has(&m.classes, 2));
	names_only_asked(&m);
	CHECK(!names_class_has(&m.classes, 2) && m.n_lines == 0 &&
	      !names_class_has(&m.classes, LIMIT_CLASSES + 1) &&
	      names_class_has(&m.classes, 4 * LIMIT_CLASSES + 2));
	CHECK(names_opens(&map, STR("own.test"), 443, &http) && http);
	CHECK(names_opens(&map, STR("own.test"), 22, &http) && !http);
	CHECK(!names_opens(&map, STR("own.test"), 80, &http));
	ask = names_asked(&map, STR("a.docs.test"), 443);
	CHECK(ask && ask->wait_s == 30 && !ask->http);
	ask = names_asked(&map, STR("a.docs.test"), 80);
	CHECK(ask && ask->wait_s == 60 && ask->http && ask->line.private_ok);
	CHECK(addr_parse(STR("10.1.2.3"), &addr));
	ask = names_asked_addr(&map, &addr, 443);
	CHECK(ask && str_is(ask->line.id, "a-0000000003"));
	CHECK(!names_asked_addr(&map, &addr, 80));
	CHECK(names_ask_of(&map, STR("a-0000000003"), STR("x.test"), &addr) ==
	      ask);
	CHECK(names_ask_of(&map, STR("a-0000000001"), STR("x.docs.test"),
			   &addr));
	CHECK(!names_ask_of(&map, STR("a-0000000001"), STR("docs.test"),
			    &addr));
	CHECK(addr_parse(STR("11.1.2.3"), &addr));
	CHECK(!names_asked_addr(&map, &addr, 443) &&
	      !names_ask_of(&map, STR("a-0000000003"), STR("x.test"), &addr));
	names_free(&map);
}

/* '*' leads to public addresses alone; a network of its own is about others. */
static void star_and_net(void)
{
	static const char text[] =
		ASK "ask ** a1 60 - - a-0000000001\n"
		    "asknet 0.0.0.0/0 a1 60 - a-0000000001\n"
		    "asknet 10.0.0.0/8 a1 60 - a-0000000003\n";
	const struct names_ask *ask;
	struct names_map map;
	struct addr addr;

	CHECK(names_parse(str_of(text), &map, &err) == 0);
	CHECK(addr_parse(STR("10.1.2.3"), &addr));
	ask = names_asked_addr(&map, &addr, 443);
	CHECK(ask && str_is(ask->line.id, "a-0000000003"));
	CHECK(addr_parse(STR("1.2.3.4"), &addr));
	ask = names_asked_addr(&map, &addr, 443);
	CHECK(ask && str_is(ask->line.id, "a-0000000001"));
	CHECK(addr_parse(STR("192.168.1.1"), &addr) &&
	      !names_asked_addr(&map, &addr, 443));
	names_free(&map);
	/* one net of a line leads there, though the line has names, too */
	CHECK(names_parse(STR(ASK "ask **.test a1 60 - - a-0000000001\n"
				  "asknet 10.0.0.0/8 a1 60 - a-0000000001\n"),
			  &map, &err) == 0);
	CHECK(addr_parse(STR("10.1.2.3"), &addr) &&
	      names_asked_addr(&map, &addr, 443));
	names_free(&map);
}

/* All addresses by a line of its own, which is none of names: those too. */
static void all_nets(void)
{
	static const char text[] = ASK "ask **.test a1 60 - - a-0000000001\n"
				       "asknet 0.0.0.0/0 a1 60 - a-0000000002\n"
				       "asknet ::/0 a1 60 - a-0000000001\n";
	const struct names_ask *ask;
	struct names_map map;
	struct addr addr;

	CHECK(names_parse(str_of(text), &map, &err) == 0);
	CHECK(addr_parse(STR("192.168.1.1"), &addr));
	ask = names_asked_addr(&map, &addr, 443);
	CHECK(ask && str_is(ask->line.id, "a-0000000002"));
	CHECK(addr_parse(STR("fd12::1"), &addr) &&
	      !names_asked_addr(&map, &addr, 443));
	CHECK(addr_parse(STR("2a0e::1"), &addr) &&
	      names_asked_addr(&map, &addr, 443));
	names_free(&map);
}

/* Behind a proxy: which names go past it, and into which set they open. */
static void past(void)
{
	static const struct {
		const char *name;
		bool matches, past;
	} cases[] = {
		{"a.direct.test", true, true},
		{"a.other.test", true, false},
		{"direct.example", false, false},
	};
	struct names_map map;
	struct names_match m;

	CHECK(names_parse(STR("membrane-names 2\n"
			      "upstream proxy udp 9.9.9.9 53\n"
			      "past **.direct.test\npast direct.example\n"
			      "ports 1 tcp/443\nname **.test 1 - "
			      "g-0123456789\n"),
			  &map, &err) == 0);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		bool any = names_match(&map, str_of(cases[i].name), &m);
		unsigned set = names_class_next(&m.classes, NAMES_CLASS_PAST);

		CHECK(any == cases[i].matches && m.past == cases[i].past);
		CHECK(set == (m.past ? NAMES_CLASS_PAST : 0));
		CHECK(names_class_next(&m.classes_private, NAMES_CLASS_PAST) ==
		      set);
	}
	names_free(&map);
}

int main(void)
{
	past();
	match();
	edge_of_a_pattern();
	guards();
	permits();
	openings();
	order_of_lines();
	many_matches();
	classes();
	judges();
	floors();
	machine();
	hosts();
	asks();
	star_and_net();
	all_nets();
	return check_status();
}
