/*
 * witness.h: a request shows a change when both policies decide it as the
 * change says, and that is a change of its way; and how many are tried.
 */
#include "compiler/algebra/compare/witness.h"
#include "compiler/algebra/decide/ask.h"
#include "compiler/base/limits.h"

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

/* --- the bound ------------------------------------------------------------ */

/* Rules on each side, of all lists that a request of the kind is decided by;
 * what one change costs, and how many reach the bound. */
#define RULES 4096u
#define TRIED (LIMIT_WITNESSES / (2 * RULES))

static void add_patterns(struct arena *a, ir_patterns *to, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		*vec_push(a, to) =
			(struct ir_pattern){.line = arena_fmt(a, "x%u", i)};
}

/* Files of so many patterns, and a line of one side alone. */
static struct ir_policy with_patterns(struct arena *a, const char *line)
{
	struct ir_policy p = {0};

	add_patterns(a, &p.ignore, RULES / 4 * 3);
	add_patterns(a, &p.readonly, RULES / 4);
	p.ignore.v[0].line = str_of(line);
	return p;
}

static void add_grants(struct arena *a, ir_grants *to, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		vec_push(a, to)->dest.kind = IR_DEST_ANY;
}

/* An argument of docker of one side alone, beside so many grants. */
static struct ir_policy with_grants(struct arena *a, const char *arg)
{
	struct ir_policy p = {0};

	add_grants(a, &p.allow, RULES / 2);
	add_grants(a, &p.ask, RULES / 4);
	add_grants(a, &p.deny, RULES / 4);
	*vec_push(a, &p.docker_args) = (struct arg){.option = str_of(arg)};
	return p;
}

/* The forged one is found behind fewer than reach the bound, and no more. */
static void check_bound(struct arena *a, const struct ir_policy *old,
			const struct ir_policy *now,
			const struct access_change *lost)
{
	struct comparison c = {0};
	struct access_change forged = *lost;

	forged.way = ACCESS_GAINED;
	for (uint32_t i = 0; i < TRIED - 1; i++)
		*vec_push(a, &c.changes) = *lost;
	CHECK(witness_refuted(old, now, &c) == NULL);
	*vec_push(a, &c.changes) = forged;
	CHECK(witness_refuted(old, now, &c) == &c.changes.v[TRIED - 1]);
	c.changes.v[TRIED - 1] = *lost;
	*vec_push(a, &c.changes) = forged;
	for (int i = 0; i < 16; i++)
		CHECK(witness_refuted(old, now, &c) == NULL);
}

static void check_bounds(void)
{
	struct arena *a = arena_new();
	struct access_change c = {
		.way = ACCESS_LOST,
		.kind = ACCESS_READ,
		.has_witness = true,
		.witness = {.kind = IR_REQ_READ, .path = STR("b")}};
	struct ir_policy old = with_patterns(a, "a");
	struct ir_policy now = with_patterns(a, "b");

	c.was = decide_asked(a, &old, decide_files_new(a, &old), &c.witness);
	c.is = decide_asked(a, &now, decide_files_new(a, &now), &c.witness);
	check_bound(a, &old, &now, &c);
	c.kind = ACCESS_ARG;
	c.witness =
		(struct ir_request){.kind = IR_REQ_ARG, .arg = STR("--init")};
	old = with_grants(a, "init");
	now = with_grants(a, "tty");
	c.was = decide_asked(a, &old, NULL, &c.witness);
	c.is = decide_asked(a, &now, NULL, &c.witness);
	check_bound(a, &old, &now, &c);
	arena_free(a);
}

int main(void)
{
	struct test_policy t[LEVELS];

	/* What is tried is given back, and a list of files made once. */
	arena_bound(16u << 20);
	for (size_t i = 0; i < LEVELS; i++)
		CHECK(test_policy_make(&t[i], policies[i]));
	for (size_t was = 0; was < LEVELS; was++)
		for (size_t is = 0; is < LEVELS; is++)
			check_pair(t, was, is);
	for (size_t i = 0; i < LEVELS; i++)
		test_policy_done(&t[i]);
	check_bounds();
	return check_status();
}
