/*
 * sides.h: the rules of two policies side by side, and what a few of them say.
 * Policies are written as in tests/policy.h.
 */
#include "compiler/algebra/space/sides.h"

#include "compiler/algebra/space/cells.h"
#include "compiler/algebra/space/effects.h"

#include "tests/unit/algebra/asked.h"

struct pair {
	struct test_policy was, is;
	struct sides s;
};

/* now: NULL is one policy alone. */
static void begin_pair(struct pair *p, const char *was, const char *now)
{
	*p = (struct pair){0};
	CHECK(test_policy_make(&p->was, was));
	if (now)
		CHECK(test_policy_make(&p->is, now));
	sides_init(&p->s, p->was.a, &p->was.policy, now ? &p->is.policy : NULL);
}

static void end_pair(struct pair *p)
{
	sides_done(&p->s);
	test_policy_done(&p->was);
	if (p->is.a)
		test_policy_done(&p->is);
}

static bool is_floor(const struct rule *r)
{
	return rule_grant(r)->from.layer == LAYER_FLOOR;
}

/* --- rules ---------------------------------------------------------------- */

/* Of each rule that is not the floor's in both: its list, who has it, its
 * text. */
static const struct {
	const char *was, *now, *rules;
} merged[] = {
	{"", "", ""},
	{"allow a.test\nallow c.test\n", "allow b.test\nallow c.test\n",
	 "+< a.test tcp/1-65535\n"
	 "+> b.test tcp/1-65535\n"
	 "+= c.test tcp/1-65535\n"},
	{"allow b.test\n", "allow a.test\nallow b.test\nallow c.test\n",
	 "+> a.test tcp/1-65535\n"
	 "+= b.test tcp/1-65535\n"
	 "+> c.test tcp/1-65535\n"},
	{"allow a.test\nask a.test\ndeny a.test\n", "",
	 "+< a.test tcp/1-65535\n"
	 "?< a.test tcp/1-65535 for=session wait=1m\n"
	 "-< a.test tcp/1-65535,udp/1-65535\n"},
	{"", "ask b.test for=once\nask b.test for=always\ndeny b.test:1\n",
	 "?> b.test tcp/1-65535 for=always wait=1m\n"
	 "?> b.test tcp/1-65535 for=once wait=1m\n"
	 "-> b.test tcp/1\n"},
	/* In the floor's words, and not the floor's. */
	{"deny 127.0.0.0/8\n", "",
	 "f> 127.0.0.0/8 tcp/1-65535,udp/1-65535\n"
	 "-< 127.0.0.0/8 tcp/1-65535,udp/1-65535\n"},
	{"deny 127.0.0.0/8\n", "deny 127.0.0.0/8\n",
	 "-= 127.0.0.0/8 tcp/1-65535,udp/1-65535\n"},
	{"", "deny 127.0.0.0/8\n",
	 "f< 127.0.0.0/8 tcp/1-65535,udp/1-65535\n"
	 "-> 127.0.0.0/8 tcp/1-65535,udp/1-65535\n"},
};

static void check_merged(void)
{
	for (size_t i = 0; i < ARRAY_LEN(merged); i++) {
		struct pair p;
		struct buf b;

		begin_pair(&p, merged[i].was, merged[i].now);
		buf_init(&b, p.was.a);
		vec_each(r, &p.s.rules) {
			CHECK(rule_shared(r) == (r->g[0] && r->g[1]));
			if (is_floor(r) && rule_shared(r))
				continue;
			CHECK(rule_grant(r) == (r->g[0] ? r->g[0] : r->g[1]));
			buf_addf(&b, "%c%c %.*s\n",
				 is_floor(r) ? 'f'
				 : r->deny   ? '-'
				 : r->ask    ? '?'
					     : '+',
				 !r->g[1]  ? '<'
				 : r->g[0] ? '='
					   : '>',
				 STR_ARG(rule_grant(r)->canon));
		}
		CHECK_MSG(str_is(buf_str(&b), merged[i].rules), "%zu:\n%.*s", i,
			  STR_ARG(buf_str(&b)));
		end_pair(&p);
	}
}

/* Where only one of them is there. */
static void check_single(void)
{
	struct test_policy t;
	struct sides s;

	CHECK(test_policy_make(&t, "allow a.test\n"));
	for (int k = 0; k < 2; k++) {
		sides_init(&s, t.a, k ? NULL : &t.policy, k ? &t.policy : NULL);
		CHECK(s.n == 1 && s.rules.n == 1 + t.policy.deny.n);
		CHECK(!s.quic_differs && !s.inspection_differs);
		vec_each(r, &s.rules)
			CHECK(r->g[k] && !r->g[!k] && !rule_shared(r) &&
			      rule_grant(r) == r->g[k]);
		sides_done(&s);
	}
	test_policy_done(&t);
}

/* Where neither has any rule, which takes next to no memory. */
static void check_no_rules(void)
{
	struct arena *a = arena_new();
	struct sides s;

	sides_init(&s, a, NULL, NULL);
	CHECK(s.rules.n == 0);
	arena_bound(64u << 20);
	CHECK(effects_number(&s, false) && effects_number(&s, true));
	arena_bound(0);
	sides_done(&s);
	arena_free(a);
}

/* --- what is the same ----------------------------------------------------- */

/* Of all rules but denials and the floor's. */
static const struct {
	const char *was, *now;
	bool same;
} alike[] = {
	{"", "", true},
	{"allow a.test\n", "allow a.test\n", true},
	{"allow a.test\n", "allow a.test:1\n", false},
	{"allow a.test\n", "", false},
	{"", "allow a.test\n", false},
	/* What is looked into for others. */
	{"allow *\n", "allow *\ndeny b.test\n", false},
	{"allow *\ndeny b.test\n", "allow *\ndeny c.test\n", true},
	/* CONNECT to a network, on the ports of denials. */
	{"allow 203.0.113.0/24\ndeny b.test\n",
	 "allow 203.0.113.0/24\ndeny b.test:1\n", false},
	{"allow 203.0.113.0/24\ndeny b.test:1\n",
	 "allow 203.0.113.0/24\ndeny b.test\n", false},
	{"allow a.test\ndeny b.test\n", "allow a.test\ndeny b.test:1\n", true},
	{"allow 203.0.113.0/24 udp/9\ndeny b.test tcp/1-2,udp/1\n",
	 "allow 203.0.113.0/24 udp/9\ndeny b.test tcp/1,udp/1-2\n", true},
	{"allow 203.0.113.0/24 http=GET\ndeny b.test\n",
	 "allow 203.0.113.0/24 http=GET\ndeny b.test:1\n", true},
	{"allow 203.0.113.0/24 http=GET+CONNECT\ndeny b.test\n",
	 "allow 203.0.113.0/24 http=GET+CONNECT\ndeny b.test:1\n", false},
	/* QUIC, on the ports of denials of requests. */
	{"allow a.test udp/9\ndeny b.test tcp/1-65535 http=GET\n",
	 "allow a.test udp/9\ndeny b.test tcp/1 http=GET\n", false},
	{"allow a.test udp/9\ndeny b.test tcp/1 http=GET\n",
	 "allow a.test udp/9\ndeny b.test tcp/1-65535 http=GET\n", false},
	{"allow a.test tcp/9\ndeny b.test tcp/1-65535 http=GET\n",
	 "allow a.test tcp/9\ndeny b.test tcp/1 http=GET\n", true},
	{"allow a.test udp/9\ndeny b.test tcp/1-65535 http=GET\n",
	 "allow a.test udp/9\ndeny b.test tcp/1-65535 http=PUT\n", true},
};

static void check_same(void)
{
	for (size_t i = 0; i < ARRAY_LEN(alike); i++) {
		struct pair p;
		uint32_t ids[8], n = 0;

		begin_pair(&p, alike[i].was, alike[i].now);
		for (uint32_t k = 0; k < p.s.rules.n; k++)
			if (!p.s.rules.v[k].deny)
				ids[n++] = k;
		CHECK_MSG(sides_same(&p.s, ids, n) == alike[i].same, "%zu %s",
			  i, alike[i].was);
		end_pair(&p);
	}
}

/* --- decisions ------------------------------------------------------------ */

/*
 * By all rules in a view, or by all but the denials of b.test and c.test, which
 * nobody asks about: as decide_asked() says, and the rule that is named for it.
 */
static const struct {
	const char *policy, *request, *said;
} asked[] = {
	{"allow a.test\n", "a.test:443", "granted by a.test tcp/1-65535"},
	{"allow a.test\n", "b.test:443", "no-grant"},
	{"ask a.test\n", "a.test:443",
	 "ask by a.test tcp/1-65535 for=session wait=1m"},
	{"allow a.test\ndeny a.test tcp/22\n", "a.test:22",
	 "denied by a.test tcp/22"},
	{"allow a.test\n", "resolve a.test", "granted by a.test tcp/1-65535"},
	{"ask a.test\n", "resolve a.test",
	 "ask by a.test tcp/1-65535 for=session wait=1m"},
	{"allow a.test\nask a.test\ndeny b.test\n", "tcp 127.0.0.1:1",
	 "floor by 127.0.0.0/8 tcp/1-65535,udp/1-65535"},
	/* CONNECT in the clear, where others are looked into. */
	{"allow 203.0.113.0/24\n", "CONNECT http://203.0.113.1/",
	 "granted by 203.0.113.0/24 tcp/1-65535"},
	{"allow 203.0.113.0/24\ndeny b.test\n", "CONNECT http://203.0.113.1/",
	 "method"},
	{"allow 203.0.113.0/24\ndeny b.test\n", "CONNECT https://203.0.113.1/",
	 "granted by 203.0.113.0/24 tcp/1-65535"},
	{"allow 203.0.113.0/24\ndeny b.test:81\n",
	 "CONNECT http://203.0.113.1/",
	 "granted by 203.0.113.0/24 tcp/1-65535"},
	{"allow 203.0.113.0/24\ndeny b.test\n", "GET http://203.0.113.1/",
	 "granted by 203.0.113.0/24 tcp/1-65535"},
	{"allow 203.0.113.0/24\nallow a.test\ndeny b.test\n",
	 "CONNECT http://a.test/ at 203.0.113.1", "method"},
	{"ask 203.0.113.0/24\ndeny b.test\n", "CONNECT http://203.0.113.1/",
	 "method"},
	{"ask 203.0.113.0/24\n", "CONNECT http://203.0.113.1/",
	 "ask by 203.0.113.0/24 tcp/1-65535 for=session wait=1m"},
	{"allow 203.0.113.0/24\ndeny 203.0.113.1\ndeny b.test\n",
	 "CONNECT http://203.0.113.1/",
	 "denied by 203.0.113.1/32 tcp/1-65535,udp/1-65535"},
	{"allow a.test\ndeny b.test\n", "CONNECT http://a.test/", "method"},
	{"allow *\ndeny b.test\n", "CONNECT http://a.test/", "method"},
	/* QUIC, where requests are denied. */
	{"allow a.test udp/443\n", "quic a.test:443",
	 "granted by a.test udp/443"},
	{"allow 203.0.113.0/24 udp/443\n", "quic 203.0.113.1:443",
	 "granted by 203.0.113.0/24 udp/443"},
	{"allow 203.0.113.0/24 udp/443\ndeny b.test tcp/1-65535 http=GET\n",
	 "quic 203.0.113.1:443", "quic by b.test tcp/1-65535 http [GET *]"},
	{"allow 203.0.113.0/24 udp/443\ndeny b.test tcp/1-65535 http=GET\n",
	 "udp 203.0.113.1:443", "granted by 203.0.113.0/24 udp/443"},
	{"allow 203.0.113.0/24 udp/443\ndeny b.test tcp/80 http=GET\n",
	 "quic 203.0.113.1:443", "granted by 203.0.113.0/24 udp/443"},
	{"allow 203.0.113.0/24 udp/443\ndeny b.test tcp/80 http=GET\n"
	 "deny c.test tcp/443 http=GET\n",
	 "quic 203.0.113.1:443", "quic by c.test tcp/443 http [GET *]"},
	{"allow a.test udp/443\ndeny a.test tcp/1-65535 http=GET\n",
	 "quic a.test:443", "quic by a.test tcp/1-65535 http [GET *]"},
	{"allow a.test udp/443\ndeny b.test tcp/1-65535 http=GET\n",
	 "quic a.test:443", "granted by a.test udp/443"},
	{"allow * udp/443\ndeny b.test tcp/1-65535 http=GET\n",
	 "quic a.test:443", "granted by * udp/443"},
	{"allow * udp/443\ndeny b.test tcp/1-65535 http=GET\n",
	 "quic 203.0.113.1:443", "quic by b.test tcp/1-65535 http [GET *]"},
	{"allow a.test\ndeny b.test tcp/1-65535 http=GET\n", "quic a.test:443",
	 "udp by a.test tcp/1-65535"},
	{"allow 203.0.113.0/24 udp/443\ndeny 203.0.113.0/24\n"
	 "deny b.test tcp/1-65535 http=GET\n",
	 "quic 203.0.113.1:443",
	 "denied by 203.0.113.0/24 tcp/1-65535,udp/1-65535"},
};

/* A denial of others. */
static bool is_aside(const struct rule *r)
{
	struct str name = ir_dest_name(&rule_grant(r)->dest);

	return r->deny && (str_is(name, "b.test") || str_is(name, "c.test"));
}

static void check_one(size_t i, bool aside)
{
	struct ir_request r = {0};
	struct decision d;
	struct ruling got;
	struct pair p;
	struct str said;

	begin_pair(&p, asked[i].policy, NULL);
	asked_request(&p.was, asked[i].request, &r);
	sides_clear(&p.s);
	for (uint32_t k = 0; k < p.s.rules.n; k++)
		if (!aside || !is_aside(&p.s.rules.v[k]))
			sides_put(&p.s, k, NULL, 0);
	got = sides_ask(&p.s, 0, &r);
	d = decide_asked(p.was.a, &p.was.policy, NULL, &r);
	CHECK_MSG(got.d.verdict == d.verdict && got.d.reason == d.reason,
		  "%s: %s", asked[i].request, reason_name(d.reason));
	said = got.rule == SIDES_NONE ? str_of(reason_name(got.d.reason))
				      : arena_fmt(p.was.a, "%s by %.*s",
						  reason_name(got.d.reason),
						  STR_ARG(got.d.grant->canon));
	CHECK_MSG(str_is(said, asked[i].said), "%zu %s:\n\t\t\"%.*s\"", i,
		  asked[i].request, STR_ARG(said));
	end_pair(&p);
}

static void check_asked(void)
{
	for (size_t i = 0; i < ARRAY_LEN(asked); i++) {
		check_one(i, false);
		check_one(i, true);
	}
}

int main(void)
{
	check_merged();
	check_single();
	check_no_rules();
	check_same();
	check_asked();
	return check_status();
}
