/*
 * compare.h, of many changes: each is told once, however many there are, and
 * what did not change is counted.
 */
#include "compiler/algebra/compare/compare.h"
#include "compiler/base/buf.h"

#include "tests/check.h"
#include "tests/policy.h"

/* Beyond the first size of what they are looked up in, and of most lists. */
#define MOST 56u

/* Of a copy, which stays; without the floor, whose denials are behind all. */
static void make_policy(struct arena *a, struct test_policy *t, struct buf *b)
{
	CHECK(test_policy_make(t, arena_cstr(a, buf_str(b))));
	t->policy.deny.n = 0;
}

/*
 * A grant that is felt at each name, and one of each name; beside them others
 * that stay. From nothing, and to nothing.
 */
static void check_changes(uint32_t n)
{
	struct arena *a = arena_new();
	struct test_policy few, many;
	struct comparison c;
	struct buf b;

	buf_init(&b, a);
	for (uint32_t i = 0; i < n; i++)
		buf_addf(&b, "allow z%u.zone tcp/22\n", i);
	make_policy(a, &few, &b);
	buf_adds(&b, "allow **.test:443\n");
	for (uint32_t i = 0; i < n; i++)
		buf_addf(&b, "allow n%u.test tcp/22\n", i);
	make_policy(a, &many, &b);
	compare_policies(a, &few.policy, &many.policy, &c);
	CHECK_MSG(c.changes.n == n + 1 && c.unchanged == n, "%u: %u, %u", n,
		  c.changes.n, (unsigned)c.unchanged);
	compare_policies(a, &many.policy, &few.policy, &c);
	CHECK_MSG(c.changes.n == n + 1 && c.unchanged == n, "%u: %u, %u", n,
		  c.changes.n, (unsigned)c.unchanged);
	test_policy_done(&few);
	test_policy_done(&many);
	arena_free(a);
}

/* One grant of the one, and parts of it that the other has. */
static void check_kept(uint32_t n)
{
	struct arena *a = arena_new();
	struct test_policy one, parts;
	struct comparison c;
	struct buf b;

	buf_init(&b, a);
	buf_adds(&b, "allow **.test:443\n");
	make_policy(a, &one, &b);
	buf_init(&b, a);
	buf_adds(&b, "allow a.test:443\n");
	for (uint32_t i = 0; i < n; i++)
		buf_addf(&b, "allow n%u.test:443\n", i);
	make_policy(a, &parts, &b);
	for (int turn = 0; turn < 2; turn++) {
		const struct ir_policy *p[] = {&one.policy, &parts.policy};

		compare_whole(a, p[turn], p[!turn], &c);
		/* And what nothing hides or protects. */
		CHECK_MSG(c.kept.n == n + 3 && c.changes.n == 1, "%u: %u, %u",
			  n, c.kept.n, c.changes.n);
	}
	test_policy_done(&one);
	test_policy_done(&parts);
	arena_free(a);
}

/* Paths with the same methods are told together, however many those are. */
static void check_methods(uint32_t n)
{
	struct arena *a = arena_new();
	struct test_policy none, some;
	struct comparison c;
	struct buf b, said;

	CHECK(test_policy_make(&none, ""));
	buf_init(&b, a);
	buf_init(&said, a);
	buf_adds(
		&b,
		"allow a.test tcp/443 http=/aaaaaaaaaaaa+/bbbbbbbbbbbb+/cccccccccccc");
	for (uint32_t i = 0; i < n; i++) {
		buf_addf(&b, "+MMMMMMMMMMMM%c", 'A' + i);
		buf_addf(&said, "%sMMMMMMMMMMMM%c", i ? "," : "", 'A' + i);
	}
	buf_adds(&said,
		 " https://a.test/aaaaaaaaaaaa /bbbbbbbbbbbb /cccccccccccc");
	CHECK(test_policy_make(&some, buf_str(&b).p));
	compare_policies(a, &none.policy, &some.policy, &c);
	CHECK(c.changes.n >= 1);
	CHECK_MSG(str_eq(c.changes.v[0].text, buf_str(&said)), "%.*s",
		  STR_ARG(c.changes.v[0].text));
	test_policy_done(&none);
	test_policy_done(&some);
	arena_free(a);
}

int main(void)
{
	for (uint32_t n = 1; n <= 17; n++)
		check_methods(n);
	for (uint32_t n = 1; n <= MOST; n++) {
		check_changes(n);
		check_kept(n);
	}
	return check_status();
}
