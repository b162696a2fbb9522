/*
 * What never.h and parts.h say of policies at the bounds of limits.h, and of
 * those that are within them because what is alike is looked at once.
 */
#include "compiler/algebra/compare/never.h"
#include "compiler/algebra/compare/parts.h"
#include "compiler/base/limits.h"

#include "tests/check.h"
#include "tests/policy.h"

/* --- names and addresses -------------------------------------------------- */

/* So many lines of each; the rules of '*' make each pair a heavy one. */
struct many {
	unsigned anywhere;
	unsigned names, addrs;
	bool names_alike, addrs_alike;
	const char *last;
};

static const char *put_many(struct buf *b, const struct many *m)
{
	for (unsigned i = 0; i < m->anywhere; i++)
		buf_addf(b, "deny * udp/%u\n", 100 + i);
	for (unsigned i = 0; i < m->names; i++)
		buf_addf(b, "allow n%u.test tcp/%u\n", i,
			 m->names_alike ? 1000 : 1000 + i);
	for (unsigned i = 0; i < m->addrs; i++)
		buf_addf(b, "allow 10.%u.%u.0/28 tcp/%u\n", i / 200, i % 200,
			 m->addrs_alike ? 2000 : 2000 + i);
	buf_adds(b, m->last);
	buf_addc(b, '\0');
	return b->p;
}

/* Is anything permitted on TCP port 9 within 10.0.0.0/8? "?": nobody knows. */
static const char *found_many(const struct many *m, struct buf *room)
{
	struct ir_never set = {.kind = IR_NEVER_NET, .has_dest = true};
	struct ir_request witness = {.text = STR("")};
	struct arena *a = arena_new();
	struct test_policy t;
	struct decision d;
	struct buf b;
	bool found;

	buf_init(&b, a);
	CHECK(test_policy_make(&t, put_many(&b, m)));
	test_dest(STR("10.0.0.0/8"), &set.dest);
	CHECK(test_ports(t.a, STR("tcp/9"), &set.ports));
	found = never_find(t.a, &t.policy, &set, &witness, &d);
	buf_addf(room, "%s%.*s", found && witness.text.n == 0 ? "?" : "",
		 STR_ARG(witness.text));
	buf_addc(room, '\0');
	test_policy_done(&t);
	arena_free(a);
	return room->p;
}

static const struct {
	struct many m;
	const char *found;
} pairs[] = {
	/* The last name there is, at the first of the addresses. */
	{{.anywhere = 16,
	  .names = 20,
	  .addrs = 20,
	  .last = "allow z.test tcp/9 private\nallow z.test udp/7\n"},
	 "tcp 10.0.0.16:9 z.test"},
	{{.anywhere = 16, .names = 20, .addrs = 20, .last = ""}, ""},
	/* More pairs than are looked at come before it. */
	{{.anywhere = 24,
	  .names = 260,
	  .addrs = 260,
	  .last = "allow z.test tcp/9 private\nallow z.test udp/7\n"},
	 "?"},
	/* As many, of names alike, or of addresses. */
	{{.anywhere = 72,
	  .names = 600,
	  .addrs = 50,
	  .names_alike = true,
	  .last = ""},
	 ""},
	{{.anywhere = 72,
	  .names = 50,
	  .addrs = 600,
	  .addrs_alike = true,
	  .last = ""},
	 ""},
};

static void check_pairs(void)
{
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		struct arena *a = arena_new();
		const char *got;
		struct buf b;

		buf_init(&b, a);
		got = found_many(&pairs[i].m, &b);
		CHECK_MSG(strcmp(got, pairs[i].found) == 0,
			  "%zu: '%s', not '%s'", i, got, pairs[i].found);
		arena_free(a);
	}
}

/* --- names ---------------------------------------------------------------- */

/* Two kinds of labels at each of 18 places: more names than are looked at. */
static void put_labels(struct buf *b)
{
	for (unsigned i = 0; i < 18; i++) {
		buf_adds(b, "deny ");
		for (unsigned k = 0; k < 18; k++)
			buf_addf(b, "%s%s", k ? "." : "", k == i ? "a" : "*");
		buf_adds(b, " tcp/9\n");
	}
}

static void check_names(void)
{
	struct ir_never set = {.kind = IR_NEVER_NET, .has_dest = true};
	struct ir_request witness = {.text = STR("")};
	struct rule_finding *list[RULE_LISTS];
	struct arena *a = arena_new();
	struct test_policy t;
	struct decision d;
	struct buf b;

	buf_init(&b, a);
	put_labels(&b);
	buf_adds(&b, "allow 203.0.113.1\nallow 203.0.113.0/24\n");
	buf_addc(&b, '\0');
	CHECK(test_policy_make(&t, b.p));
	test_dest(STR("10.0.0.0/8"), &set.dest);
	CHECK(never_find(t.a, &t.policy, &set, &witness, &d));
	CHECK(witness.text.n == 0);

	/* Nothing is asked of the floor's, which would take a second more. */
	vec_each(g, &t.policy.deny)
		g->from.layer = LAYER_FLOOR;
	CHECK(!rules_find(t.a, &t.policy, list));
	for (uint32_t i = 0; i < t.policy.allow.n; i++)
		CHECK(list[RULES_GRANTS][i].use == RULE_USED);
	test_policy_done(&t);
	arena_free(a);
}

/* --- files ---------------------------------------------------------------- */

/* Where 'a' stood among the last of a name is more than is kept apart. */
static void check_files(void)
{
	static const char pattern[] = "*a??????????????????";
	struct ir_never set = {.kind = IR_NEVER_READ,
			       .pattern = str_of(pattern)};
	struct ir_request witness = {.text = STR("")};
	struct test_policy t;
	struct decision d;

	CHECK(test_policy_make(&t, "ignore *a??????????????????\n"));
	CHECK(never_find(t.a, &t.policy, &set, &witness, &d));
	CHECK(witness.text.n == 0);
	CHECK(d.verdict == VERDICT_ALLOW && d.reason == REASON_GRANTED);
	test_policy_done(&t);
}

int main(void)
{
	check_pairs();
	check_names();
	check_files();
	return check_status();
}
