/*
 * endpoints.h and effects.h: which names and addresses two policies tell apart,
 * and which of them are alike. Policies are written as in tests/policy.h.
 */
#include "compiler/algebra/space/endpoints.h"

#include "compiler/algebra/space/effects.h"

#include "tests/check.h"
#include "tests/policy.h"

struct found {
	struct test_policy was, is;
	struct sides s;
	struct endpoints e;
	struct buf shown;
};

static void begin_found(struct found *f, const char *was, const char *now)
{
	*f = (struct found){0};
	CHECK(test_policy_make(&f->was, was));
	CHECK(test_policy_make(&f->is, now));
	sides_init(&f->s, f->was.a, &f->was.policy, &f->is.policy);
	buf_init(&f->shown, f->was.a);
}

static void end_found(struct found *f)
{
	sides_done(&f->s);
	test_policy_done(&f->was);
	test_policy_done(&f->is);
}

static bool is_floor(const struct found *f, uint32_t rule)
{
	return rule_grant(&f->s.rules.v[rule])->from.layer == LAYER_FLOOR;
}

/* The place of a rule among those that are not the floor's. */
static uint32_t place_of(const struct found *f, uint32_t rule)
{
	uint32_t place = 0;

	for (uint32_t i = 0; i < rule; i++)
		place += !is_floor(f, i);
	return place;
}

/* ":0,2", sorted; 'f' for one of the floor's. */
static void show_rules(struct found *f, const uint32_t *ids, uint32_t n)
{
	buf_addc(&f->shown, ':');
	for (uint32_t i = 0; i < n; i++) {
		CHECK(i == 0 || ids[i - 1] < ids[i]);
		if (i)
			buf_addc(&f->shown, ',');
		if (is_floor(f, ids[i]))
			buf_addc(&f->shown, 'f');
		else
			buf_addf(&f->shown, "%u", place_of(f, ids[i]));
	}
}

/*
 * "[a.test:0 b.test:1] [c.test:2]": those alike in brackets, '*' behind what is
 * wanted. Of addresses those of IPv4 that rules of users are about, or that are
 * wanted.
 */
static void show_list(struct found *f, endpoint_list *list)
{
	uint32_t kinds = endpoints_sort(list), last = UINT32_MAX;
	char text[ADDR_TEXT_MAX];

	CHECK(!list->n || kinds == list->v[list->n - 1].kind + 1);
	vec_each(p, list) {
		bool some = !p->to.has_addr || p->wanted;

		for (uint32_t i = 0; i < p->n; i++)
			some |= !is_floor(f, p->ids[i]);
		if (!some || (p->to.has_addr && p->to.addr.family != ADDR_V4))
			continue;
		if (p->kind != last)
			buf_adds(&f->shown, last == UINT32_MAX ? "[" : "] [");
		else
			buf_addc(&f->shown, ' ');
		last = p->kind;
		if (p->to.has_addr)
			buf_adds(&f->shown, addr_text(&p->to.addr, text));
		else
			buf_add(&f->shown, p->to.name);
		CHECK(!p->to.has_addr || p->scope == addr_scope(&p->to.addr));
		show_rules(f, p->ids, p->n);
		buf_adds(&f->shown, p->wanted ? "*" : "");
	}
	buf_adds(&f->shown, last == UINT32_MAX ? "-" : "]");
}

static const struct {
	const char *was, *now, *only;
	bool requests;
	const char *shown;
} cases[] = {
	{"", "", NULL, false, "[example.com:] | -"},
	{"allow a.test\n", "", NULL, false, "[example.com:] [a.test:0] | -"},
	{"allow a.test\nallow b.test\n", "", NULL, false,
	 "[example.com:] [a.test:0 b.test:1] | -"},
	{"allow a.test\nallow b.test\n", "allow a.test\nallow b.test\n", NULL,
	 false, "[example.com:] [a.test:0 b.test:1] | -"},
	{"allow a.test\nallow b.test\n", "allow a.test\n", NULL, false,
	 "[example.com:] [b.test:1] [a.test:0] | -"},
	{"allow a.test\nallow b.test:1\n", "", NULL, false,
	 "[example.com:] [b.test:1] [a.test:0] | -"},
	{"allow a.test\nallow b.test\ndeny b.test\n", "", NULL, false,
	 "[example.com:] [a.test:0] [b.test:1,2] | -"},
	{"allow a.test\nask b.test\n", "", NULL, false,
	 "[example.com:] [a.test:0] [b.test:1] | -"},
	{"ask a.test for=once\nask b.test for=session\nask c.test for=always\n",
	 "", NULL, false,
	 "[example.com:] [a.test:0] [c.test:2] [b.test:1] | -"},
	{"allow a.test\nallow b.test private\nallow c.test public\n", "", NULL,
	 false, "[example.com:] [a.test:0 c.test:2] [b.test:1] | -"},
	{"allow *\nallow a.test\n", "", NULL, false,
	 "[example.com:0] [a.test:0,1] | [10.0.0.1:0 100.64.0.1:0 172.16.0.1:0 192.0.0.8:0 192.168.1.1:0 198.18.0.1:0] [1.1.1.1:0 11.0.0.1:0 100.128.0.1:0 128.0.0.1:0 169.255.0.1:0 172.32.0.1:0 192.0.2.1:0 192.169.0.1:0 203.0.113.1:0] [0.0.0.1:0,f 127.0.0.1:0,f 169.254.169.254:0,f 192.0.0.1:0,f 224.0.0.1:0,f 240.0.0.1:0,f]"},
	{"allow *\nallow a.test\nallow 203.0.113.7\n", "", "a.test", false,
	 "[a.test:0,2*] [example.com:0] | [10.0.0.1:0 100.64.0.1:0 172.16.0.1:0 192.0.0.8:0 192.168.1.1:0 198.18.0.1:0] [1.1.1.1:0 11.0.0.1:0 100.128.0.1:0 128.0.0.1:0 169.255.0.1:0 172.32.0.1:0 192.0.2.1:0 192.169.0.1:0 203.0.113.1:0 203.0.113.8:0] [203.0.113.7:0,1] [0.0.0.1:0,f 127.0.0.1:0,f 169.254.169.254:0,f 192.0.0.1:0,f 224.0.0.1:0,f 240.0.0.1:0,f]"},
	{"allow a.test\n", "", "*", false,
	 "[example.com:*] [a.test:0*] | [10.0.0.1:* 100.64.0.1:* 172.16.0.1:* 192.0.0.8:* 192.168.1.1:* 198.18.0.1:*] [1.1.1.1:* 11.0.0.1:* 100.128.0.1:* 128.0.0.1:* 169.255.0.1:* 172.32.0.1:* 192.0.2.1:* 192.169.0.1:* 203.0.113.1:*] [0.0.0.1:f* 127.0.0.1:f* 169.254.169.254:f* 192.0.0.1:f* 224.0.0.1:f* 240.0.0.1:f*]"},
	{"allow a.test\n", "", "203.0.113.0/24", false,
	 "[example.com:] [a.test:0] | [203.0.113.1:*]"},
	{"allow a.test\n", "", "*.test", false,
	 "[example.test:*] [a.test:0*] [example.com:] | -"},
	{"allow 203.0.113.0/24\nallow 198.51.100.0/24\n", "", NULL, false,
	 "[example.com:] | [198.51.100.1:0 203.0.113.1:1]"},
	{"allow 203.0.113.0/24\nallow 10.0.0.0/8\n", "", NULL, false,
	 "[example.com:] | [10.0.0.1:0] [203.0.113.1:1]"},
	{"allow 127.0.0.1\nallow 169.254.169.254 tcp/80\n", "", NULL, false,
	 "[example.com:] | [127.0.0.1:0,f] [169.254.169.254:1,f]"},
	{"allow 127.0.0.0/8\n", "allow 127.0.0.1\n", NULL, false,
	 "[example.com:] | [127.0.0.0:0,f 127.0.0.2:0,f] [127.0.0.1:0,1,f]"},
	{"allow 127.0.0.0/9\nallow 127.0.0.1\n", "", NULL, false,
	 "[example.com:] | [127.0.0.0:0,f 127.0.0.1:0,1,f 127.0.0.2:0,f]"},
	{"allow a.test http=GET\nallow b.test http=PUT\n", "", NULL, false,
	 "[a.test:0 b.test:1 example.com:] | -"},
	{"allow a.test http=GET\nallow b.test http=PUT\n", "", NULL, true,
	 "[example.com:] [a.test:0] [b.test:1] | -"},
	{"allow a.test http=GET+/x\nallow b.test http=GET+/x\nallow c.test http=GET+/y\n",
	 "", NULL, true, "[example.com:] [a.test:0 b.test:1] [c.test:2] | -"},
	{"allow https://a.test/x/\nallow https://b.test/x/\nallow https://c.test/y/\nallow http://d.test:443/x/\n",
	 "", NULL, true,
	 "[example.com:] [d.test:0] [a.test:1 b.test:2] [c.test:3] | -"},
	{"allow https://a.test/x/\nallow https://b.test/y/\nallow http://d.test:443/x/\n",
	 "", NULL, false, "[a.test:1 b.test:2 d.test:0 example.com:] | -"},
	{"allow a.test\nallow https://a.test/\nallow b.test\n", "", NULL, false,
	 "[example.com:] [a.test:0,2 b.test:1] | -"},
	{"deny https://a.test/\ndeny http://b.test/\n", "", NULL, false,
	 "[b.test:0 example.com:] [a.test:1] | -"},
	{"allow a.test\nallow b.test inspect\n", "", NULL, true,
	 "[example.com:] [a.test:0 b.test:1] | -"},
	{"allow a.test\nallow b.test\nallow a.z.test\nallow b.z.test\n"
	 "allow c.test:1\nallow c.z.test:1\n",
	 "", "*.z.test", false,
	 "[www.z.test:*] [c.z.test:5*] [a.z.test:1* b.z.test:3*] [example.com: z.test:] [c.test:4] [a.test:0 b.test:2] | -"},
	/* One of two that are alike leads into the floor. */
	{"allow 127.0.0.0/8\nallow 127.0.0.1\nallow 169.254.0.0/16\n"
	 "allow 169.254.169.254\n",
	 "", NULL, false,
	 "[example.com:] | [127.0.0.0:0,f 127.0.0.2:0,f 169.254.0.1:2,f 169.254.169.255:2,f] [127.0.0.1:0,1,f 169.254.169.254:2,3,f]"},
	{"allow 127.0.0.0/8\nallow 169.254.0.0/17\n", "", NULL, false,
	 "[example.com:] | [127.0.0.1:0,f] [169.254.0.1:1,f]"},
	{"allow 127.0.0.1 tcp/80\nallow 169.254.169.254 tcp/80\n"
	 "allow 127.0.0.0/8 tcp/80\n",
	 "", NULL, false,
	 "[example.com:] | [127.0.0.0:0,f 127.0.0.2:0,f] [169.254.169.254:2,f] [127.0.0.1:0,1,f]"},
	{"deny 127.0.0.1 tcp/80\ndeny 169.254.169.254 tcp/80\n", "", NULL,
	 false, "[example.com:] | [127.0.0.1:f,0 169.254.169.254:f,1]"},
	{"deny 126.0.0.0/7 tcp/80\ndeny 169.254.169.254 tcp/80\n", "", NULL,
	 false,
	 "[example.com:] | [126.0.0.1:0] [127.0.0.1:0,f 169.254.169.254:f,1]"},
	{"allow a.org\nallow a.test\nallow b.test:1\n", "", "*.org", false,
	 "[example.org:*] [a.org:0*] [example.com:] [b.test:2] [a.test:1] | -"},
	{"allow 127.0.0.1 http\nallow 169.254.169.254 tcp/80 http\n", "", NULL,
	 false, "[example.com:] | [127.0.0.1:0,f 169.254.169.254:1,f]"},
	{"ask 127.0.0.1\nask 127.0.0.0/8\n", "", NULL, false,
	 "[example.com:] | [127.0.0.0:0,f 127.0.0.2:0,f] [127.0.0.1:0,1,f]"},
};

static void check_found(void)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct ir_dest only = {0};
		struct found f;

		begin_found(&f, cases[i].was, cases[i].now);
		if (cases[i].only)
			test_dest(str_of(cases[i].only), &only);
		f.e.names.n = f.e.addrs.n = 1; /* of before */
		endpoints_find(&f.s, cases[i].only ? &only : NULL,
			       cases[i].requests, &f.e);
		CHECK(f.e.complete);
		show_list(&f, &f.e.names);
		buf_adds(&f.shown, " | ");
		show_list(&f, &f.e.addrs);
		CHECK_MSG(str_is(buf_str(&f.shown), cases[i].shown),
			  "%zu %s:\n\t\t\"%.*s\"", i, cases[i].was,
			  STR_ARG(buf_str(&f.shown)));
		end_found(&f);
	}
}

/* Names by their bytes, addresses by theirs; none is no kind at all. */
static void check_places(void)
{
	struct endpoint names[2] = {{.to.name = STR("a.test")},
				    {.to.name = STR("b.test")}};
	struct endpoint addrs[2] = {{.to.has_addr = true},
				    {.to.has_addr = true}};
	endpoint_list none = {0};

	CHECK(addr_parse(STR("9.0.0.1"), &addrs[0].to.addr));
	CHECK(addr_parse(STR("10.0.0.1"), &addrs[1].to.addr));
	for (int k = 0; k < 2; k++) {
		CHECK(endpoints_by_place(&names[k], &names[k]) == 0);
		CHECK((endpoints_by_place(&names[k], &names[!k]) < 0) == !k);
		CHECK(endpoints_by_place(&addrs[k], &addrs[k]) == 0);
		CHECK((endpoints_by_place(&addrs[k], &addrs[!k]) < 0) == !k);
	}
	CHECK(endpoints_sort(&none) == 0);
}

/* Of a name and an address together: each rule once, in order. */
static void check_rules(void)
{
	static const struct {
		uint32_t name[4], n_name, addr[4], n_addr, all[6], n;
	} sets[] = {
		{{0}, 0, {0}, 0, {0}, 0},
		{{1, 3}, 2, {0}, 0, {1, 3}, 2},
		{{0}, 0, {2, 5}, 2, {2, 5}, 2},
		{{1, 3, 7}, 3, {2, 3}, 2, {1, 2, 3, 7}, 4},
	};
	struct found f;

	begin_found(&f, "", "");
	for (size_t i = 0; i < ARRAY_LEN(sets); i++) {
		uint32_t name[4], addr[4], n;
		struct endpoint of_name = {.ids = name, .n = sets[i].n_name};
		struct endpoint of_addr = {.ids = addr, .n = sets[i].n_addr};
		const uint32_t *all;

		memcpy(name, sets[i].name, sizeof(name));
		memcpy(addr, sets[i].addr, sizeof(addr));
		all = endpoints_rules(&f.s, &of_name, &of_addr, &n);
		CHECK(n == sets[i].n &&
		      memcmp(all, sets[i].all, n * sizeof(*all)) == 0);
	}
	end_found(&f);
}

/* --- effects -------------------------------------------------------------- */

/* Numbers of the rules that users wrote, where the first has 1, each other one
 * the lowest that is free, unless it is that of a rule before. */
static const struct {
	const char *was, *now;
	bool requests;
	const char *numbers;
} effects[] = {
	{"allow a.test\nallow b.test\n", "", false, "1 1"},
	{"allow a.test\nallow b.test\n", "allow b.test\n", false, "1 2"},
	{"allow a.test\nallow c.test\n", "allow b.test\n", false, "1 2 1"},
	{"allow a.test\nask b.test\ndeny c.test\n", "", false, "1 2 3"},
	{"ask a.test for=once\nask b.test for=session\nask c.test for=always\n"
	 "ask d.test for=once\n",
	 "", false, "1 2 3 1"},
	{"allow a.test private\nallow b.test public\nallow c.test\n", "", false,
	 "1 2 2"},
	{"allow a.test:443\nallow b.test tcp/443\nallow c.test udp/443\n", "",
	 false, "1 1 2"},
	{"allow a.test http=GET\nallow b.test http=PUT\nallow c.test\n", "",
	 false, "1 1 2"},
	{"allow a.test http=GET\nallow b.test http=PUT\nallow c.test\n"
	 "allow d.test http=GET\n",
	 "", true, "1 2 3 1"},
	{"allow https://a.test/\nallow https://b.test/\n"
	 "allow https://c.test/x\nallow http://d.test:443/\n",
	 "", true, "1 2 2 3"},
	{"allow https://a.test/\nallow https://c.test/x\n", "", false, "1 1"},
};

static void check_effects(void)
{
	for (size_t i = 0; i < ARRAY_LEN(effects); i++) {
		uint32_t of[8], n = 0, rule = 0;
		const uint32_t *numbers;
		struct found f;

		begin_found(&f, effects[i].was, effects[i].now);
		numbers = effects_number(&f.s, effects[i].requests);
		for (; rule < f.s.rules.n; rule++) {
			uint32_t k = 0;

			CHECK(numbers[rule] > 0 &&
			      numbers[rule] <= f.s.rules.n);
			if (is_floor(&f, rule))
				continue;
			while (k < n && of[k] != numbers[rule])
				k++;
			of[k] = numbers[rule];
			n += k == n;
			buf_addf(&f.shown, f.shown.n ? " %u" : "%u", k + 1);
		}
		CHECK_MSG(str_is(buf_str(&f.shown), effects[i].numbers),
			  "%zu %s:\n\t\t\"%.*s\"", i, effects[i].was,
			  STR_ARG(buf_str(&f.shown)));
		end_found(&f);
	}
}

int main(void)
{
	check_found();
	check_places();
	check_rules();
	check_effects();
	return check_status();
}
