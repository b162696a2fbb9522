#include "compiler/ir/ports.h"

#include "tests/check.h"
#include "tests/policy.h"

static void canon_is(const char *line, const char *canon)
{
	struct test_policy t;
	const ir_grants *list;

	CHECK_MSG(test_policy_make(&t, line), "%s", line);
	list = line[0] == 'd' ? &t.policy.deny : &t.policy.allow;
	for (uint32_t i = 0; i < list->n; i++)
		if (list->v[i].from.layer != LAYER_FLOOR) {
			CHECK_MSG(str_is(list->v[i].canon, canon), "%s: %.*s",
				  line, STR_ARG(list->v[i].canon));
			CHECK(list->v[i].id.n == 12 &&
			      list->v[i].id.p[0] ==
				      (line[0] == 'd' ? 'd' : 'g'));
		}
	test_policy_done(&t);
}

static void check_canon(void)
{
	canon_is("allow github.com", "github.com tcp/1-65535");
	canon_is("allow github.com:443", "github.com tcp/443");
	canon_is("allow *.x.test udp/53,tcp/53", "*.x.test tcp/53,udp/53");
	canon_is("allow x.test tcp/10-20,tcp/21,tcp/15-30,tcp/40",
		 "x.test tcp/10-30,tcp/40");
	canon_is("allow x.test tcp/65535,tcp/1-65534", "x.test tcp/1-65535");
	canon_is("allow * private", "* tcp/1-65535 private");
	canon_is("allow 10.0.0.0/8 tcp/1", "10.0.0.0/8 tcp/1");
	canon_is("allow https://x.test/v1/", "https://x.test/v1/ tcp/443");
	canon_is("allow http://x.test", "http://x.test/ tcp/80");
	canon_is("allow x.test http", "x.test tcp/1-65535 http [* *]");
	canon_is("deny x.test", "x.test tcp/1-65535,udp/1-65535");
	canon_is("deny 192.0.2.1 udp/53", "192.0.2.1/32 udp/53");
}

static uint32_t count_user(const ir_grants *list)
{
	uint32_t n = 0;

	vec_each(g, list)
		n += g->from.layer != LAYER_FLOOR;
	return n;
}

static void check_dedupe(void)
{
	struct test_policy t;

	CHECK(test_policy_make(&t, "allow@global a.test tcp/443\n"
				   "allow a.test:443\n"
				   "allow b.test\n"
				   "deny *\n"
				   "deny 169.254.0.0/16\n"));
	CHECK(t.policy.allow.n == 2);
	CHECK(t.policy.allow.v[0].from.layer == LAYER_GLOBAL);
	/* '*' alone went; the user's denial took the place of the floor's. */
	CHECK(count_user(&t.policy.deny) == 1);
	test_policy_done(&t);
}

static bool holds(const char *policy, const char *line)
{
	struct test_policy t;
	bool held = false;

	CHECK(test_policy_make(&t, policy));
	vec_each(p, &t.policy.readonly)
		if (str_is(p->line, line))
			held |= p->hold;
	test_policy_done(&t);
	return held;
}

static void check_hold(void)
{
	CHECK(holds("", "/.membrane.yaml"));
	CHECK(holds("", "/.git/hooks/"));
	CHECK(!holds("", "**/.git/config"));
	CHECK(!holds("", "/.git/modules/**/hooks/"));
	CHECK(holds("readonly a/b", "a/b"));
	CHECK(holds("readonly /a", "/a"));
	CHECK(!holds("readonly a", "a"));
	CHECK(!holds("readonly a/", "a/"));
	CHECK(!holds("readonly /a[bc]", "/a[bc]"));
	CHECK(!holds("readonly /a\\*", "/a\\*"));
	CHECK(!holds("readonly /a\nreadonly !/a\n", "/a"));
	CHECK(holds("readonly !/a\nreadonly /a\n", "/a"));
	CHECK(!holds("readonly !/.git/*\n", "/.git/config"));
	CHECK(holds("readonly !/.git/*\n", "/.membrane.yaml"));
}

static ir_ports ports(struct arena *a, const char *text)
{
	ir_ports p = {0};

	CHECK(test_ports(a, str_of(text), &p));
	ports_normalise(&p);
	return p;
}

static void check_ports(void)
{
	struct arena *a = arena_new();
	ir_ports all = ports(a, "udp/1-65535,tcp/1-65535");
	ir_ports some = ports(a, "tcp/22,tcp/80-90,udp/53");
	ir_ports few = ports(a, "tcp/81-82"), none = {0};

	CHECK(ports_all(&all) && !ports_all(&some));
	CHECK(ports_cover(&all, &some) && !ports_cover(&some, &all));
	CHECK(ports_cover(&some, &few) && ports_cover(&few, &none));
	CHECK(ports_cover(&some, &none));
	few = ports(a, "udp/81-82");
	CHECK(!ports_cover(&some, &few));
	arena_free(a);
}

int main(void)
{
	check_canon();
	check_dedupe();
	check_hold();
	check_ports();
	return check_status();
}
