/*
 * witness.h: a request shows a change when both policies decide it as the
 * change says, and that is a change of its way.
 */
#include "compiler/algebra/compare/witness.h"
#include "compiler/algebra/decide/ask.h"

#include "tests/check.h"
#include "tests/policy.h"

/* From denied to permitted: each is decided on its level by one of these. */
static const char *const policies[] = {
	"", "ask a.test:443 for=once\n", "ask a.test:443\n",
	"ask a.test:443 for=always\n", "allow a.test:443\n"};
#define LEVELS ARRAY_LEN(policies)
_Static_assert(LEVELS == ACCESS_LEVELS, "a policy for each level");

static const enum access_way ways[] = {ACCESS_GAINED, ACCESS_LOST, ACCESS_OTHER,
				       ACCESS_KEPT};

static bool is_shown(enum access_way way, size_t was, size_t is)
{
	switch (way) {
	case ACCESS_GAINED:
		return was < is;
	case ACCESS_LOST:
		return was > is;
	case ACCESS_OTHER:
		return was != is;
	case ACCESS_KEPT:
		return was == is && was > 0;
	}
	abort();
}

static void check_pair(struct test_policy t[LEVELS], size_t was, size_t is)
{
	struct access_change c = {.kind = ACCESS_CONNECT,
				  .has_witness = true,
				  .witness = {.kind = IR_REQ_CONNECT,
					      .name = STR("a.test"),
					      .port = 443}};
	const struct ir_policy *old = &t[was].policy, *now = &t[is].policy;

	c.was = decide_asked(t->a, old, NULL, &c.witness);
	c.is = decide_asked(t->a, now, NULL, &c.witness);
	CHECK(access_level(&c.was) == was && access_level(&c.is) == is);
	for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
		c.way = ways[i];
		CHECK_MSG(witness_holds(t->a, old, now, &c) ==
				  is_shown(ways[i], was, is),
			  "%zu -> %zu, %zu", was, is, i);
	}
	/* What was said of either is not what it decides. */
	for (size_t other = 0; other < LEVELS; other++) {
		struct decision d =
			decide_asked(t->a, &t[other].policy, NULL, &c.witness);
		struct access_change forged = c;

		forged.way = was < is ? ACCESS_GAINED : ACCESS_LOST;
		forged.was = d;
		CHECK(other == was || !witness_holds(t->a, old, now, &forged));
		forged.was = c.was;
		forged.is = d;
		CHECK(other == is || !witness_holds(t->a, old, now, &forged));
	}
	c.has_witness = false;
	CHECK(witness_holds(t->a, old, now, &c));
}

int main(void)
{
	struct test_policy t[LEVELS];

	for (size_t i = 0; i < LEVELS; i++)
		CHECK(test_policy_make(&t[i], policies[i]));
	for (size_t was = 0; was < LEVELS; was++)
		for (size_t is = 0; is < LEVELS; is++)
			check_pair(t, was, is);
	for (size_t i = 0; i < LEVELS; i++)
		test_policy_done(&t[i]);
	return check_status();
}
