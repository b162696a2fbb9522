/* profiles.map: what is refused, and which line is behind a decision. */
#include "runtime/gate/plan/profiles.h"

#include "compiler/base/limits.h"

#include "tests/check.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

static struct err err;

#define PROFILES                                                               \
	"membrane-profiles 1\n1 a.test g-0000000001\n1 **.b.test "             \
	"g-0000000002\nd2 ** d-0000000003\n1 10.0.0.0/8 g-0000000004\n1 "      \
	"a.test g-0000000005\n"

static int profiles_of(const char *text)
{
	struct profiles p;
	int rc = profiles_parse(str_of(text), &p, &err);

	if (rc == 0)
		profiles_free(&p);
	return rc;
}

static void profile_maps(void)
{
	struct addr a = {ADDR_V4, {10, 1, 2, 3}}, b = {ADDR_V4, {11, 1, 2, 3}};
	struct profiles p = {0};

	CHECK(profiles_parse(STR(PROFILES), &p, &err) == 0 && p.n == 5);
	CHECK(str_is(profiles_find(&p, STR("1"), STR("a.test"), NULL),
		     "g-0000000001"));
	CHECK(str_is(profiles_find(&p, STR("1"), STR("x.y.b.test"), &a),
		     "g-0000000002"));
	CHECK(str_is(profiles_find(&p, STR("1"), STR(""), &a), "g-0000000004"));
	CHECK(profiles_find(&p, STR("1"), STR("c.test"), &b).n == 0);
	CHECK(str_is(profiles_find(&p, STR("d2"), STR("c.test"), &b),
		     "d-0000000003"));
	CHECK(profiles_find(&p, STR("3"), STR("a.test"), NULL).n == 0);
	/* an address alone has no name, which not even "**" is about */
	CHECK(profiles_find(&p, STR("d2"), STR(""), &b).n == 0);
	CHECK(profiles_minds(&p, STR("c.test")));
	profiles_free(&p);
	CHECK(profiles_parse(STR("membrane-profiles 1\n1 a.test g-0000000001\n"
				 "d1 *.b.test d-0000000003\n"
				 "c2 c.test -\n"),
			     &p, &err) == 0);
	CHECK(!profiles_minds(&p, STR("a.test")));
	/* "-" is no line of the policy */
	CHECK(profiles_find(&p, STR("c2"), STR("c.test"), NULL).n == 0);
	CHECK(str_is(profiles_find(&p, STR("d1"), STR("x.b.test"), NULL),
		     "d-0000000003"));
	CHECK(profiles_minds(&p, STR("x.b.test")));
	CHECK(!profiles_minds(&p, STR("")));
	profiles_free(&p);
	CHECK(profiles_parse(STR("membrane-profiles 1\n1 a.test g-0000000001\n"
				 "d2 10.0.0.0/8 d-0000000004\n"),
			     &p, &err) == 0);
	CHECK(profiles_minds(&p, STR("c.test")));
	profiles_free(&p);
	CHECK(profiles_of("membrane-profiles 1\n") == 0);
	CHECK(profiles_of("membrane-profiles 1\nc1 a.test -\n") == 0);
	CHECK(profiles_of("membrane-profiles 2\n") == -EPROTO);
	CHECK(profiles_of("") == -EPROTO);
	CHECK(profiles_of("membrane-profiles 1\n1 a.test\n") == -EPROTO);
	CHECK(profiles_of("membrane-profiles 1\n1 a.test g-0\n") == -EPROTO);
	CHECK(profiles_of("membrane-profiles 1\n1 a,b g-0000000001\n") ==
	      -EPROTO);
}

#define LINES "membrane-profiles 1\n"

static void refusals(void)
{
	static const char *const bad[] = {
		"\n",
		"membrane-profiles 1",
		LINES "1 a.test g-0000000001",
		LINES "\n",
		LINES " a.test g-0000000001\n",
		LINES "1\n",
		LINES "1 a.test \n",
		LINES "1  g-0000000001\n",
		LINES "1 a.test g-00000000012\n",
		LINES "1 a.test --\n",
		LINES "1 a.test g-00000 0001\n",
		LINES "1 a.test - \n",
		LINES "1 10.0.0.1/8 -\n",
		LINES "1 10.0.0.0/33 -\n",
		LINES "1 a.test -\n\n",
	};
	char *big = calloc(1, LIMIT_PLAN_BYTES + 1u);
	struct profiles p;
	size_t before;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		CHECK_MSG(profiles_of(bad[i]) == -EPROTO && err.text[0], "%s",
			  bad[i]);
	CHECK(profiles_of(LINES "1 a.test -\n2 b..c -\n") == -EPROTO &&
	      strstr(err.text, "line 3"));
	CHECK(profiles_parse((struct str){&"\n"[1], 0}, &p, &err) == -EPROTO &&
	      strstr(err.text, "not whole lines"));
	/* of what was refused nothing is left, but for malloc(3)'s own store */
	before = mallinfo2().uordblks;
	for (unsigned i = 0; i < 1000; i++)
		CHECK(profiles_of(LINES "1\n") == -EPROTO);
	CHECK(mallinfo2().uordblks < before + 16384);
	/* of so many bytes none is looked at but the last */
	big[LIMIT_PLAN_BYTES] = '\n';
	CHECK(profiles_parse((struct str){big, LIMIT_PLAN_BYTES + 1u}, &p,
			     &err) == -EPROTO &&
	      strstr(err.text, "not whole lines"));
	free(big);
}

/* Of a token's lines the first that fits, in the order in which they stand. */
static void orders(void)
{
	struct addr in = {ADDR_V4, {10, 1, 2, 3}};
	struct profiles p;

	CHECK(profiles_parse(STR(LINES "b **.test g-0000000001\n"
				       "a ** g-0000000002\n"
				       "c x.test g-0000000003\n"
				       "b x.test g-0000000004\n"
				       "b 10.0.0.0/8 g-0000000005\n"
				       "a x.test g-0000000006\n"),
			     &p, &err) == 0);
	CHECK(str_is(profiles_find(&p, STR("a"), STR("x.test"), NULL),
		     "g-0000000002"));
	CHECK(str_is(profiles_find(&p, STR("b"), STR("x.test"), &in),
		     "g-0000000001"));
	CHECK(str_is(profiles_find(&p, STR("b"), STR("x.other"), &in),
		     "g-0000000005"));
	CHECK(profiles_find(&p, STR("b"), STR("x.other"), NULL).n == 0);
	CHECK(str_is(profiles_find(&p, STR("c"), STR("x.test"), NULL),
		     "g-0000000003"));
	CHECK(profiles_find(&p, STR("c"), STR("y.test"), &in).n == 0);
	CHECK(profiles_find(&p, STR("d"), STR("x.test"), &in).n == 0 &&
	      profiles_find(&p, STR("0"), STR("x.test"), &in).n == 0);
	/* the other way */
	CHECK(str_is(
		profiles_token(&p, STR("g-0000000003"), STR("x.test"), NULL),
		"c"));
	CHECK(profiles_token(&p, STR("g-0000000003"), STR("y.test"), NULL).n ==
	      0);
	CHECK(str_is(
		profiles_token(&p, STR("g-0000000005"), STR("y.test"), &in),
		"b"));
	CHECK(profiles_token(&p, STR("g-0000000005"), STR("y.test"), NULL).n ==
	      0);
	CHECK(profiles_token(&p, STR("g-0000000009"), STR("x.test"), &in).n ==
	      0);
	profiles_free(&p);
	CHECK(!p.v && !p.text && p.n == 0);
	CHECK(profiles_find(&p, STR("a"), STR("x.test"), &in).n == 0 &&
	      !profiles_minds(&p, STR("x.test")));
}

int main(void)
{
	profile_maps();
	refusals();
	orders();
	return check_status();
}
