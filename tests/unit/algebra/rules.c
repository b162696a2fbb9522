/*
 * rules_find(): which rules do something, and beside which others. Policies are
 * written as in tests/policy.h.
 */
#include "compiler/algebra/compare/parts.h"

#include "tests/check.h"
#include "tests/policy.h"

static const char *const uses[] = {"used", "shadowed", "dead", "overlaps"};

/* "canon: use by\n" of each rule that is not the floor's, and not used. */
static struct str found(struct test_policy *t, const char *policy)
{
	struct rule_finding *list[RULE_LISTS];
	struct buf b;

	CHECK(test_policy_make(t, policy));
	CHECK(rules_find(t->a, &t->policy, list));
	buf_init(&b, t->a);
	for (int k = 0; k < RULE_LISTS; k++) {
		const ir_grants *g = k == RULES_GRANTS	? &t->policy.allow
				     : k == RULES_ASKED ? &t->policy.ask
							: &t->policy.deny;

		for (uint32_t i = 0; i < g->n; i++) {
			const struct rule_finding *f = &list[k][i];

			if (f->use == RULE_USED)
				continue;
			buf_addf(&b, "%.*s %s", STR_ARG(g->v[i].canon),
				 uses[f->use]);
			if (f->by)
				buf_addf(&b, " by %.*s", STR_ARG(f->by->canon));
			buf_addc(&b, '\n');
		}
	}
	return buf_str(&b);
}

static const struct {
	const char *policy, *found;
} findings[] = {
	{"allow a.test\nallow *.a.test\nallow 1.2.3.4\n", ""},
	{"allow a.a.test:443\nallow *.a.test\n",
	 "a.a.test tcp/443 shadowed by *.a.test tcp/1-65535\n"},
	/* Two that hold a third together; and they alone remain. */
	{"allow 1.2.3.0/24\nallow 1.2.3.0/25\nallow 1.2.3.128/25\n",
	 "1.2.3.0/25 tcp/1-65535 shadowed by 1.2.3.0/24 tcp/1-65535\n"
	 "1.2.3.128/25 tcp/1-65535 shadowed by 1.2.3.0/24 tcp/1-65535\n"},
	{"allow a.test tcp/1-99\nallow a.test tcp/100-65535\n"
	 "allow a.test tcp/50-200\n",
	 "a.test tcp/50-200 shadowed by a.test tcp/1-99\n"},
	{"allow a.test\ndeny a.test\n",
	 "a.test tcp/1-65535 dead by a.test tcp/1-65535,udp/1-65535\n"},
	{"allow a.test tcp/1-99\nallow a.test tcp/50-200\n",
	 "a.test tcp/1-99 overlaps by a.test tcp/50-200\n"
	 "a.test tcp/50-200 overlaps by a.test tcp/1-99\n"},
	{"allow 127.0.0.0/8\n", "127.0.0.0/8 tcp/1-65535 dead\n"},
	/* TLS without a name, to an address. */
	{"allow *\n"
	 "allow 203.0.113.0/28\n"
	 "allow **.test tcp/443 inspect\n",
	 "* tcp/1-65535 overlaps by 203.0.113.0/28 tcp/1-65535\n"
	 "**.test tcp/443 tls=inspect overlaps by * tcp/1-65535\n"
	 "203.0.113.0/28 tcp/1-65535 overlaps by * tcp/1-65535\n"},
	/* It opens private addresses, which the other does not. */
	{"allow a.test\nallow a.test private\n",
	 "a.test tcp/1-65535 shadowed by a.test tcp/1-65535 private\n"},
	{"deny *.a.test\ndeny x.a.test\n",
	 "x.a.test tcp/1-65535,udp/1-65535 shadowed by "
	 "*.a.test tcp/1-65535,udp/1-65535\n"},
	{"allow https://a.test/x/\nallow https://a.test/x/y/\n",
	 "https://a.test/x/y/ tcp/443 shadowed by https://a.test/x/ tcp/443\n"},
	/* Entries of ask: all of it permitted, denied, or asked about by
	   others. */
	{"allow a.test:443\n"
	 "ask a.test:443\n",
	 "a.test tcp/443 for=session wait=1m dead by a.test tcp/443\n"},
	{"allow a.test:443\n"
	 "ask a.test tcp/80,tcp/443\n",
	 ""},
	{"ask a.test:443\n"
	 "deny a.test\n",
	 "a.test tcp/443 for=session wait=1m dead by a.test tcp/1-65535,udp/1-65535\n"},
	{"ask a.test:443\n"
	 "ask *.test:443\n",
	 "a.test tcp/443 for=session wait=1m shadowed by *.test tcp/443 for=session wait=1m\n"},
	/* The widest counts; one that is narrower decides nothing there. */
	{"ask a.test:443 for=once\n"
	 "ask *.test:443 for=always\n",
	 "a.test tcp/443 for=once wait=1m dead by *.test tcp/443 for=always wait=1m\n"},
	{"ask a.test:443 for=always\n"
	 "ask *.test:443 for=once\n",
	 ""},
	{"ask a.test:443 for=once\n"
	 "ask a.test tcp/80,tcp/443 for=once\n",
	 "a.test tcp/443 for=once wait=1m shadowed by a.test tcp/80,tcp/443 for=once wait=1m\n"},
	{"ask a.test tcp/443 http=GET\n"
	 "allow a.test tcp/443 http=GET\n",
	 "a.test tcp/443 http [GET *] for=session wait=1m dead by a.test tcp/443 http [GET *]\n"},
	{"ask a.test tcp/443 http=GET+POST\n"
	 "allow a.test tcp/443 http=GET\n",
	 ""},
	{"ask 127.0.0.1/32 tcp/22\n", ""},
	{"ask a.test:443\n"
	 "deny 203.0.113.0/24\n",
	 ""},
	/* Denials, whatever is granted. */
	{"deny a.test tcp/80 http=GET\n"
	 "deny * tcp/1-65535\n",
	 "a.test tcp/80 http [GET *] shadowed by * tcp/1-65535\n"},
	{"allow http://10.0.0.1/\n"
	 "deny http://10.0.0.1/\n"
	 "deny 10.0.0.1/32 http=GET+/x\n",
	 "http://10.0.0.1/ tcp/80 dead by 10.0.0.1/32 tcp/1-65535,udp/1-65535 http [GET /x]\n"
	 "10.0.0.1/32 tcp/1-65535,udp/1-65535 http [GET /x] overlaps by http://10.0.0.1/ tcp/80\n"
	 "http://10.0.0.1/ tcp/80 overlaps by 10.0.0.1/32 tcp/1-65535,udp/1-65535 http [GET /x]\n"},
	/* At a private address as at a public one: all is granted there. */
	{"deny 10.0.0.1/32 tcp/80 http=GET+/x\n"
	 "deny 10.0.0.1/32 tcp/80\n",
	 "10.0.0.1/32 tcp/80 http [GET /x] shadowed by 10.0.0.1/32 tcp/80\n"},
	{"deny fd00::1/128 tcp/80 http=GET+/x\n"
	 "deny fd00::1/128 tcp/80\n",
	 "fd00::1/128 tcp/80 http [GET /x] shadowed by fd00::1/128 tcp/80\n"},
	{"deny a.test\n"
	 "deny a.test tcp/443\n",
	 "a.test tcp/443 shadowed by a.test tcp/1-65535,udp/1-65535\n"},
	{"deny *.a.test\n"
	 "deny **.a.test\n",
	 "*.a.test tcp/1-65535,udp/1-65535 shadowed by **.a.test tcp/1-65535,udp/1-65535\n"},
	{"deny *.a.test\n"
	 "deny b.*.test\n",
	 "*.a.test tcp/1-65535,udp/1-65535 overlaps by b.*.test tcp/1-65535,udp/1-65535\n"
	 "b.*.test tcp/1-65535,udp/1-65535 overlaps by *.a.test tcp/1-65535,udp/1-65535\n"},
	{"deny 203.0.113.0/24\n"
	 "deny 203.0.113.0/25\n"
	 "deny 203.0.113.128/25\n",
	 "203.0.113.0/25 tcp/1-65535,udp/1-65535 shadowed by 203.0.113.0/24 tcp/1-65535,udp/1-65535\n"
	 "203.0.113.128/25 tcp/1-65535,udp/1-65535 shadowed by 203.0.113.0/24 tcp/1-65535,udp/1-65535\n"},
	{"deny a.test http=GET\n"
	 "deny a.test http=GET+POST\n",
	 "a.test tcp/1-65535,udp/1-65535 http [GET *] shadowed by a.test tcp/1-65535,udp/1-65535 http [GET,POST *]\n"},
	{"deny https://a.test/x\n"
	 "deny https://a.test/x/y\n",
	 "https://a.test/x/y tcp/443 shadowed by https://a.test/x tcp/443\n"},
	{"deny https://a.test/x\n"
	 "deny a.test tcp/443 http=*+/x\n",
	 "https://a.test/x tcp/443 shadowed by a.test tcp/443 http [* /x]\n"},
	{"deny http://a.test/x\n"
	 "deny https://a.test/x\n",
	 ""},
	{"deny 169.254.1.1/32\n", ""},
	{"deny *\n", ""},
	{"deny a.test tcp/1-99\n"
	 "deny a.test tcp/50-200\n",
	 "a.test tcp/1-99 overlaps by a.test tcp/50-200\n"
	 "a.test tcp/50-200 overlaps by a.test tcp/1-99\n"},
	/* Grants. */
	{"allow a.test:443\n"
	 "allow a.test:443 private\n"
	 "deny 10.0.0.0/8\n",
	 "a.test tcp/443 shadowed by a.test tcp/443 private\n"},
	{"allow a.test:443 private\n"
	 "allow a.test tcp/1-500\n",
	 "a.test tcp/1-500 overlaps by a.test tcp/443 private\n"
	 "a.test tcp/443 private overlaps by a.test tcp/1-500\n"},
	{"allow a.test:443 inspect\n"
	 "allow *.test:443\n",
	 "*.test tcp/443 overlaps by a.test tcp/443 tls=inspect\n"
	 "a.test tcp/443 tls=inspect overlaps by *.test tcp/443\n"},
	{"allow a.test:443 verify\n"
	 "allow *.test:443\n",
	 "a.test tcp/443 tls=verify shadowed by *.test tcp/443\n"},
	{"allow a.test:443 inspect\n"
	 "allow a.test:443\n",
	 "a.test tcp/443 shadowed by a.test tcp/443 tls=inspect\n"},
	{"allow a.test tcp/443 http=GET\n"
	 "allow a.test:443\n",
	 "a.test tcp/443 http [GET *] shadowed by a.test tcp/443\n"},
	{"allow a.test tcp/443 http=GET+/x\n"
	 "allow a.test tcp/443 http=GET+/x+/y\n",
	 "a.test tcp/443 http [GET /x] shadowed by a.test tcp/443 http [GET /x /y]\n"},
	{"allow a.test tcp/443 http=GET\n"
	 "deny a.test tcp/443 http=GET\n",
	 "a.test tcp/443 http [GET *] dead by a.test tcp/443 http [GET *]\n"},
	{"allow a.test tcp/443 http=GET+POST\n"
	 "deny a.test tcp/443 http=GET\n",
	 ""},
	{"allow 203.0.113.0/24 tcp/22\n"
	 "allow 203.0.113.0/25 tcp/22\n",
	 "203.0.113.0/25 tcp/22 shadowed by 203.0.113.0/24 tcp/22\n"},
	{"allow 203.0.113.0/25 tcp/22\n"
	 "allow 203.0.113.128/25 tcp/22\n"
	 "allow 203.0.113.0/24 tcp/22\n",
	 "203.0.113.0/25 tcp/22 shadowed by 203.0.113.0/24 tcp/22\n"
	 "203.0.113.128/25 tcp/22 shadowed by 203.0.113.0/24 tcp/22\n"},
	{"allow *\n"
	 "allow a.test\n",
	 "a.test tcp/1-65535 shadowed by * tcp/1-65535\n"},
	{"allow *\n"
	 "allow 203.0.113.8/32\n",
	 "203.0.113.8/32 tcp/1-65535 shadowed by * tcp/1-65535\n"},
	{"allow *\n"
	 "allow 10.0.0.8/32\n",
	 ""},
	/* Of two that hold as much the one that was written first stays. */
	{"allow a.test tcp/1-100\n"
	 "allow a.test tcp/100-200\n"
	 "allow a.test tcp/1-200\n",
	 "a.test tcp/1-100 shadowed by a.test tcp/1-200\n"
	 "a.test tcp/100-200 shadowed by a.test tcp/1-200\n"},
	{"allow b.*.test\n"
	 "allow *.a.test\n"
	 "allow b.a.test\n",
	 "*.a.test tcp/1-65535 overlaps by b.*.test tcp/1-65535\n"
	 "b.*.test tcp/1-65535 overlaps by *.a.test tcp/1-65535\n"
	 "b.a.test tcp/1-65535 shadowed by *.a.test tcp/1-65535\n"},
	{"allow *.a.test\n"
	 "allow b.*.test\n"
	 "allow b.a.test\n",
	 "*.a.test tcp/1-65535 overlaps by b.*.test tcp/1-65535\n"
	 "b.*.test tcp/1-65535 overlaps by *.a.test tcp/1-65535\n"
	 "b.a.test tcp/1-65535 shadowed by *.a.test tcp/1-65535\n"},
	{"allow a.test:443\n"
	 "deny *.test tcp/443\n"
	 "deny a.test tcp/443\n",
	 "a.test tcp/443 dead by *.test tcp/443\n"
	 "a.test tcp/443 shadowed by *.test tcp/443\n"},
	{"allow a.test udp/443\n"
	 "deny https://a.test/x\n",
	 ""},
	{"allow 169.254.169.254/32 tcp/80\n", ""},
	{"allow 169.254.0.0/16 tcp/80\n", "169.254.0.0/16 tcp/80 dead\n"},
	{"allow a.test:443\n"
	 "deny a.test tcp/80\n",
	 ""},
	/* Two that are the same but for a word: what was written last goes. */
	{"allow a.test:443 verify\n"
	 "allow a.test:443\n",
	 "a.test tcp/443 shadowed by a.test tcp/443 tls=verify\n"},
	{"allow a.test:443\n"
	 "allow a.test:443 verify\n",
	 "a.test tcp/443 tls=verify shadowed by a.test tcp/443\n"},
	/* What holds all of it, and is first among grants: not by its port. */
	{"allow *.test:443\n"
	 "allow a.test tcp/1-1000\n"
	 "ask a.test:443\n",
	 "*.test tcp/443 overlaps by a.test tcp/1-1000\n"
	 "a.test tcp/1-1000 overlaps by *.test tcp/443\n"
	 "a.test tcp/443 for=session wait=1m dead by *.test tcp/443\n"},
	/* An address has none behind it. */
	{"deny * tcp/443,udp/443\n"
	 "deny 169.254.0.0/16 tcp/443 http=*+/x/y\n",
	 ""},
	/* A name counts at public addresses and at private ones. */
	{"deny * tcp/443\n"
	 "deny *.test tcp/443-444\n"
	 "deny 203.0.113.0/24 tcp/443-444\n"
	 "deny a.test udp/9\n"
	 "deny b.test udp/9\n",
	 "* tcp/443 overlaps by *.test tcp/443-444\n"
	 "*.test tcp/443-444 overlaps by * tcp/443\n"
	 "203.0.113.0/24 tcp/443-444 overlaps by * tcp/443\n"},
	{"deny 203.0.113.0/31\n"
	 "deny 203.0.113.0/32\n"
	 "deny 203.0.113.1/32\n",
	 "203.0.113.0/32 tcp/1-65535,udp/1-65535 shadowed by 203.0.113.0/31 tcp/1-65535,udp/1-65535\n"
	 "203.0.113.1/32 tcp/1-65535,udp/1-65535 shadowed by 203.0.113.0/31 tcp/1-65535,udp/1-65535\n"},
};

static void check_rules(void)
{
	for (size_t i = 0; i < ARRAY_LEN(findings); i++) {
		struct test_policy t;
		struct str got = found(&t, findings[i].policy);

		CHECK_MSG(str_is(got, findings[i].found), "%zu:\n%swanted:\n%s",
			  i, got.p, findings[i].found);
		test_policy_done(&t);
	}
}

/* Of two that were written in one place, too, always the same goes. */
static void check_order(void)
{
	struct rule_finding *list[RULE_LISTS];
	struct test_policy t;

	CHECK(test_policy_make(&t, "allow a.test:443\n"
				   "allow a.test:443 verify\n"));
	vec_each(g, &t.policy.allow)
		g->from.at = t.policy.allow.v[0].from.at;
	CHECK(rules_find(t.a, &t.policy, list));
	CHECK(list[RULES_GRANTS][0].use == RULE_SHADOWED);
	CHECK(list[RULES_GRANTS][1].use == RULE_USED);
	test_policy_done(&t);
}

/* So many lines, each with a port of its own, and all found to be of that use.
 */
static void check_lines(unsigned n, enum rule_list of, enum rule_use use,
			const char *line, const char *rest)
{
	struct rule_finding *list[RULE_LISTS];
	struct arena *a = arena_new();
	struct test_policy t;
	struct buf b;

	buf_init(&b, a);
	for (unsigned i = 0; i < n; i++)
		buf_addf(&b, "%s,tcp/%u%s%u\n", line, 1000 + i, rest, i);
	buf_addc(&b, '\0');
	CHECK(test_policy_make(&t, b.p));
	CHECK(rules_find(t.a, &t.policy, list));
	for (unsigned i = 0; i < n; i++)
		CHECK(list[of][i].use == use);
	test_policy_done(&t);
	arena_free(a);
}

/* As many rules in a cell as a list has room for, of denials with the grant
 * that is beside them: what lies behind the last is no rule. */
static void check_full(void)
{
	for (unsigned n = 4; n <= 16; n *= 2) {
		check_lines(n, RULES_GRANTS, RULE_OVERLAPS,
			    "allow a.test tcp/443", " http=GET+/x+/y");
		check_lines(n - 1, RULES_DENIALS, RULE_USED,
			    "deny a.test tcp/443", " http=GET+/x");
	}
}

int main(void)
{
	check_rules();
	check_order();
	check_full();
	return check_status();
}
