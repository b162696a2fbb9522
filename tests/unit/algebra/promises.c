/*
 * promises.h: what a policy says of itself, and what went with it.
 */
#include "compiler/algebra/compare/promises.h"

#include "tests/unit/algebra/compared.h"

static const struct compared_case cases[] = {
	/* A test that goes was a promise; one that comes is none of the agent's
	   access. */
	{"tests: {allow: [a.test:443, b.test:443], deny: [\"GET https://a.test/\"]}\n",
	 "tests: {allow: [b.test:443, c.test:443], deny: [\"GET https://a.test/\", \"read .env\"]}\n",
	 "~ tests.allow - a.test:443\n"
	 "\told 'a.test:443'\n"},
	{"tests: {deny: [a.test:22]}\n", "",
	 "~ tests.deny - a.test:22\n"
	 "\told 'a.test:22'\n"},
	{"tests: {allow: [a.test:22]}\n", "tests: {deny: [a.test:22]}\n",
	 "~ tests.allow - a.test:22\n"
	 "\told 'a.test:22'\n"},
	{"tests: {never: [a.test, {dest: b.test, ports: [22]}]}\n",
	 "tests: {never: [{dest: b.test, ports: [23]}]}\n",
	 "~ tests.never - a.test\n"
	 "\told 'a.test'\n"
	 "~ tests.never - b.test tcp/22\n"
	 "\told 'dest: b.test, ports: [22'\n"},
	{"", "tests: {never: [a.test]}\n", ""},
	/* Exceptions, by all that they say. */
	{"allow_lint: [{id: any-grant, reason: so}]\n",
	 "allow_lint: [{id: any-grant, reason: thus}]\n",
	 "~ allow_lint - any-grant: so\n"
	 "\told 'any-grant'\n"
	 "~ allow_lint + any-grant: thus\n"
	 "\tnew 'any-grant'\n"},
	{"", "allow_lint: [{id: any-grant, reason: so, until: 2030-01-31}]\n",
	 "~ allow_lint + any-grant, until 2030-01-31: so\n"
	 "\tnew 'any-grant'\n"},
	{"allow_lint: [{id: any-grant, reason: so, until: 2030-01-31}]\n",
	 "allow_lint: [{id: any-grant, reason: so, until: 2030-02-01}]\n",
	 "~ allow_lint - any-grant, until 2030-01-31: so\n"
	 "\told 'any-grant'\n"
	 "~ allow_lint + any-grant, until 2030-02-01: so\n"
	 "\tnew 'any-grant'\n"},
	{"allow_lint: [{id: denied-grant, dest: a.test, reason: so}]\n",
	 "allow_lint: [{id: denied-grant, dest: b.test, reason: so}]\n",
	 "~ allow_lint - denied-grant of a.test: so\n"
	 "\told 'denied-grant'\n"
	 "~ allow_lint + denied-grant of b.test: so\n"
	 "\tnew 'denied-grant'\n"},
	{"allow_lint: [{id: any-grant, reason: so}]\n",
	 "allow_lint: [{id: any-grant, reason: so}]\n", ""},
	{"refused_on_purpose: [{dest: a.test, reason: so}, {dest: \"*.b.test\", reason: so}]\n",
	 "refused_on_purpose: [{dest: a.test, reason: thus}, {dest: \"*.b.test\", reason: so}]\n",
	 "~ refused_on_purpose - a.test: so\n"
	 "\told 'a.test'\n"
	 "~ refused_on_purpose + a.test: thus\n"
	 "\tnew 'a.test'\n"},
	{"tests: {never: [a.test], deny: [a.test:22]}\n",
	 "tests: {never: [a.test], deny: [a.test:22]}\n", ""},
};

/* A word for a warning that there is no more. */
static void check_unknown(void)
{
	struct compared x = {.c = {.with_kept = false}};
	struct ir_waiver w = {.lint = -1, .reason = STR("so")};

	compared_read_yaml(&x, "", "");
	*vec_push(x.side[0].a, &x.side[0].policy.waivers) = w;
	promises_compare(x.side[1].a, &x.side[0].policy, &x.side[1].policy,
			 &x.c);
	CHECK(str_is(compared_said(&x), "~ allow_lint - ?: so\n\told '-'\n"));
	compared_done(&x);
}

int main(void)
{
	check_unknown();
	compared_check(cases, ARRAY_LEN(cases), compared_read_yaml, false,
		       promises_compare);
	return check_status();
}
