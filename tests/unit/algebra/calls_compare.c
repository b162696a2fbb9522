/*
 * Two seccomp profiles compared: what is said of a difference, word by word,
 * and conditions at the ends of 64 bits. That nothing is missing or too much is
 * oracle/calls's.
 */
#include "compiler/algebra/compare/calls.h"
#include "compiler/base/buf.h"
#include "compiler/base/limits.h"

#include "tests/check.h"

#include <errno.h>
#include <string.h>

/* In the place of quotes, which would all have to be escaped here, is '. */
#define CALL(name, action, rest)                                               \
	"{'names': ['" name "'], 'action': 'SCMP_ACT_" action "'" rest "}"
#define ERROR(number)	  ", 'errnoRet': " #number
#define SINCE(kernel)	  ", 'includes': {'minKernel': '" kernel "'}"
#define WHERE(conditions) ", 'args': [" conditions "]"
#define IF(index, op, value)                                                   \
	"{'index': " #index ", 'op': 'SCMP_CMP_" op "', 'value': " #value "}"
#define MASKED(index, mask, value)                                             \
	"{'index': " #index ", 'op': 'SCMP_CMP_MASKED_EQ', 'value': " #mask    \
	", 'valueTwo': " #value "}"

static const char *profile_text(struct arena *a, const char *rest,
				const char *machines, const char *entries)
{
	char *p = arena_cstr(a, arena_fmt(a,
					  "{'defaultAction': 'SCMP_ACT_%s', "
					  "'archMap': [%s], 'syscalls': [%s]}",
					  rest, machines, entries));

	for (char *c = p; *c; c++)
		if (*c == '\'')
			*c = '"';
	return p;
}

static struct calls read_profile(struct arena *a, const char *rest,
				 const char *machines, const char *entries)
{
	struct calls calls = {0};
	struct err err = {0};
	const char *text = profile_text(a, rest, machines, entries);

	CHECK_MSG(calls_read(a, str_of(text), &calls, &err) == 0, "%s: %s",
		  text, err.text);
	return calls;
}

static struct str said(struct arena *a, const struct calls *old,
		       const struct calls *now)
{
	struct comparison c = {0};
	struct err err = {0};
	struct buf b;

	CHECK(calls_compare(a, old, now, &c, &err) == 0);
	buf_init(&b, a);
	vec_each(x, &c.changes) {
		CHECK(x->kind == ACCESS_CALL && !x->has_witness);
		buf_addf(&b, "%c %.*s\n", "+-~="[x->way], STR_ARG(x->text));
	}
	return buf_str(&b);
}

static const struct {
	const char *old, *now, *said;
} cases[] = {
	{"", "", ""},
	{CALL("a", "ALLOW", ""), CALL("a", "ALLOW", ""), ""},
	{"", CALL("a", "ALLOW", ""), "+ call a\n"},
	{CALL("a", "ALLOW", ""), "", "- call a\n"},
	/* By way, and then by name, whatever the order in the file. */
	{CALL("c", "ALLOW", "") ", " CALL("f", "ERRNO", ERROR(38)),
	 CALL("e", "ALLOW", "") ", " CALL("d", "ALLOW",
					  "") ", " CALL("f", "TRAP", ""),
	 "+ call d\n+ call e\n- call c\n~ call f: ENOSYS -> SIGSYS\n"},
	/* What both refuse, or both open, with another answer. */
	{CALL("a", "ALLOW", ""), CALL("a", "LOG", ""),
	 "~ call a: open -> open and logged\n"},
	{CALL("a", "KILL", ""), CALL("a", "KILL_PROCESS", ""),
	 "~ call a: the thread's end -> the process's end\n"},
	{CALL("a", "KILL", ""), CALL("a", "KILL_THREAD", ""), ""},
	{CALL("a", "ERRNO", ERROR(22)), CALL("a", "ERRNO", ERROR(4000)),
	 "~ call a: EINVAL -> error 4000\n"},
	/* Without a number it is EPERM, which is what the rest has. */
	{"", CALL("a", "ERRNO", ""), ""},
	/* A part of what the rule was about, with an example. */
	{CALL("a", "ALLOW", ""), CALL("a", "ALLOW", WHERE(IF(0, "NE", 0))),
	 "- call a, as in a(0)\n"},
	{CALL("a", "ALLOW", ""), CALL("a", "ALLOW", WHERE(IF(1, "LE", 4095))),
	 "- call a, as in a(0, 0x1000)\n"},
	{CALL("a", "ALLOW", WHERE(IF(5, "GT", 1))),
	 CALL("a", "ALLOW", WHERE(IF(5, "GT", 2))),
	 "- call a with argument 5 > 1, as in a(0, 0, 0, 0, 0, 2)\n"},
	/* All of it. */
	{CALL("a", "ALLOW", WHERE(IF(0, "EQ", 1))),
	 CALL("a", "ALLOW", WHERE(IF(0, "EQ", 2))),
	 "+ call a with argument 0 = 2\n- call a with argument 0 = 1\n"},
	{CALL("a", "ALLOW", WHERE(IF(2, "GE", 4096))), "",
	 "- call a with argument 2 >= 0x1000\n"},
	{CALL("a", "ALLOW", WHERE(IF(2, "LT", 7))), "",
	 "- call a with argument 2 < 7\n"},
	{CALL("a", "ALLOW", WHERE(IF(0, "NE", 3) ", " IF(1, "EQ", 4))), "",
	 "- call a with argument 0 != 3, argument 1 = 4\n"},
	/* Arguments, families and releases by their names. */
	{"", CALL("clone", "ALLOW", WHERE(MASKED(0, 131072, 0))),
	 "+ call clone with flags & 0x20000 = 0\n"},
	{"", CALL("socket", "ALLOW", WHERE(IF(0, "EQ", 40))),
	 "+ call socket with domain = 40 (AF_VSOCK)\n"},
	{"", CALL("socketpair", "ALLOW", WHERE(IF(0, "EQ", 1))),
	 "+ call socketpair with domain = 1 (AF_UNIX)\n"},
	{"", CALL("socket", "ALLOW", WHERE(IF(0, "EQ", 44))),
	 "+ call socket with domain = 44 (AF_XDP)\n"},
	{"", CALL("socket", "ALLOW", WHERE(IF(0, "EQ", 45))),
	 "+ call socket with domain = 45\n"},
	{"", CALL("socket", "ALLOW", WHERE(IF(0, "EQ", 3))),
	 "+ call socket with domain = 3\n"},
	{"", CALL("socket", "ALLOW", WHERE(IF(1, "EQ", 1))),
	 "+ call socket with type = 1\n"},
	{"", CALL("socket", "ALLOW", WHERE(IF(2, "NE", 2))),
	 "+ call socket with protocol != 2\n"},
	{"", CALL("socket", "ALLOW", WHERE(IF(0, "LE", 2))),
	 "+ call socket with domain <= 2\n"},
	{"", CALL("socket", "ALLOW", WHERE(IF(3, "EQ", 1))),
	 "+ call socket with argument 3 = 1\n"},
	{"", CALL("setns", "ALLOW", WHERE(IF(1, "EQ", 1))),
	 "+ call setns with nstype = 1\n"},
	{"", CALL("setns", "ALLOW", WHERE(IF(2, "EQ", 1))),
	 "+ call setns with argument 2 = 1\n"},
	{"", CALL("a", "ALLOW", SINCE("4.8")), "+ call a with Linux >= 4.8\n"},
	{CALL("a", "ALLOW", SINCE("4.8")), CALL("a", "ALLOW", SINCE("5.1")),
	 "- call a with Linux >= 4.8, as in a(0) on Linux 4.8\n"},
	{CALL("a", "ALLOW", SINCE("4.8")), CALL("a", "ALLOW", ""),
	 "+ call a, as in a(0) on Linux 0.0\n"},
	/* Two rules of one side together have what the other's one has. */
	{CALL("a", "ALLOW", ""),
	 CALL("a", "ALLOW", WHERE(IF(0, "LT", 5))) ", " CALL(
		 "a", "ALLOW", WHERE(IF(0, "GE", 5))),
	 ""},
	{CALL("a", "ALLOW", WHERE(IF(0, "NE", 5))),
	 CALL("a", "ALLOW", WHERE(IF(0, "LT", 5))) ", " CALL(
		 "a", "ALLOW", WHERE(IF(0, "GT", 6))),
	 "- call a with argument 0 != 5, as in a(6)\n"},
	/* Entries of one name go on where those of the next begin. */
	{CALL("a", "ALLOW", WHERE(IF(0, "EQ", 1))) ", " CALL(
		 "a", "ALLOW", WHERE(IF(0, "EQ", 2))) ", " CALL("b", "ALLOW",
								""),
	 CALL("a", "ALLOW", WHERE(IF(0, "EQ", 2))) ", " CALL("c", "ALLOW", ""),
	 "+ call c\n- call a with argument 0 = 1\n- call b\n"},
	/* Whatever answered before, an entry that opens is told once, and of
	   two each. */
	{CALL("a", "TRAP", WHERE(IF(0, "EQ", 1))) ", " CALL(
		 "a", "KILL", WHERE(IF(0, "EQ", 2))),
	 CALL("a", "ALLOW", ""), "+ call a\n"},
	{CALL("a", "ALLOW", ""), CALL("a", "TRAP", WHERE(IF(0, "EQ", 1))),
	 "- call a\n"},
	{"",
	 CALL("a", "ALLOW", WHERE(IF(0, "EQ", 1))) ", " CALL(
		 "a", "ALLOW", WHERE(IF(0, "EQ", 2))),
	 "+ call a with argument 0 = 1\n+ call a with argument 0 = 2\n"},
	/* The error of what opens says nothing. */
	{CALL("a", "ALLOW", ERROR(5)), CALL("a", "ALLOW", ""), ""},
	/* A family that has no name; a release that another call's entry
	   wants. */
	{"", CALL("socket", "ALLOW", WHERE(IF(0, "EQ", 9007199254740992))),
	 "+ call socket with domain = 0x20000000000000\n"},
	{CALL("a", "ALLOW", WHERE(IF(0, "NE", 5))) ", " CALL("b", "ALLOW",
							     SINCE("4.8")),
	 CALL("a", "ALLOW", WHERE(IF(0, "LT", 5))) ", " CALL("b", "ALLOW",
							     SINCE("4.8")),
	 "- call a with argument 0 != 5, as in a(6)\n"},
};

static void check_words(void)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct arena *a = arena_new();
		struct calls old = read_profile(a, "ERRNO", "", cases[i].old);
		struct calls now = read_profile(a, "ERRNO", "", cases[i].now);
		struct str got = said(a, &old, &now);

		CHECK_MSG(str_is(got, cases[i].said), "%zu:\n%.*swanted:\n%s",
			  i, STR_ARG(got), cases[i].said);
		arena_free(a);
	}
}

/* What no entry is about; and other calling conventions. */
static void check_rest(void)
{
#define MACHINE(others)                                                        \
	"{'architecture': 'X', 'subArchitectures': [" others "]}"
	struct arena *a = arena_new();
	struct calls errno_ = read_profile(a, "ERRNO", "", "");
	struct calls kill = read_profile(a, "KILL_PROCESS", "", "");
	struct calls open = read_profile(a, "ALLOW", "", "");
	struct calls but = read_profile(a, "ALLOW", "", CALL("a", "ERRNO", ""));
	struct calls one = read_profile(
		a, "ALLOW", "", CALL("a", "ERRNO", WHERE(IF(0, "EQ", 1))));
	struct calls all = read_profile(a, "ALLOW", "", CALL("a", "ALLOW", ""));
	struct calls some = read_profile(
		a, "ERRNO", "", CALL("a", "ALLOW", WHERE(IF(0, "EQ", 1))));
	struct calls others =
		read_profile(a, "KILL_PROCESS", "",
			     CALL("a", "ALLOW", WHERE(IF(0, "EQ", 1))));
	struct calls x = read_profile(a, "ERRNO", MACHINE("'B', 'A'"), "");
	struct calls y = read_profile(a, "ERRNO", MACHINE("'A', 'C'"), "");

	CHECK(str_is(said(a, &errno_, &open),
		     "+ calls that neither profile names\n"));
	CHECK(str_is(said(a, &open, &errno_),
		     "- calls that neither profile names\n"));
	CHECK(str_is(
		said(a, &errno_, &kill),
		"~ calls that neither profile names: EPERM -> the process's end\n"));
	CHECK(str_is(said(a, &open, &but), "- call a\n"));
	CHECK(str_is(said(a, &but, &errno_),
		     "- calls that neither profile names\n"));
	/* What neither side's entries are about, of a call that they name. */
	CHECK(str_is(said(a, &one, &open), "+ call a with argument 0 = 1\n"));
	CHECK(str_is(said(a, &one, &all), "+ call a, as in a(1)\n"));
	CHECK(str_is(
		said(a, &some, &others),
		"~ calls that neither profile names: EPERM -> the process's end\n"
		"~ call a, as in a(0): EPERM -> the process's end\n"));
	CHECK(x.conventions.n == 2 && str_is(x.conventions.v[0], "A on X") &&
	      str_is(x.conventions.v[1], "B on X"));
	CHECK(str_is(said(a, &x, &y),
		     "+ calls of C on X\n- calls of B on X\n"));
	arena_free(a);
}

/* --- sets ----------------------------------------------------------------- */

#define MAX UINT64_MAX
#define TOP (1ull << 63)

struct condition {
	enum calls_op op;
	uint64_t value, mask;
};

/* All of in, none of out, of one argument; the smallest value that is so. */
static const struct {
	struct condition in[2], out[2];
	uint32_t n_in, n_out;
	bool found;
	uint64_t value;
} sets[] = {
	{{{CALLS_LT, 0, 0}}, {{0}}, 1, 0, false, 0},
	{{{CALLS_LT, 1, 0}}, {{0}}, 1, 0, true, 0},
	{{{CALLS_GT, MAX, 0}}, {{0}}, 1, 0, false, 0},
	{{{CALLS_GT, MAX - 1, 0}}, {{0}}, 1, 0, true, MAX},
	{{{CALLS_GE, MAX, 0}}, {{CALLS_EQ, MAX, 0}}, 1, 1, false, 0},
	{{{CALLS_LE, 0, 0}}, {{CALLS_EQ, 0, 0}}, 1, 1, false, 0},
	{{{CALLS_LE, 1, 0}}, {{CALLS_EQ, 0, 0}}, 1, 1, true, 1},
	{{{CALLS_NE, 0, 0}}, {{0}}, 1, 0, true, 1},
	{{{CALLS_NE, MAX, 0}}, {{CALLS_LT, MAX, 0}}, 1, 1, false, 0},
	{{{CALLS_EQ, 7, 0}, {CALLS_NE, 7, 0}}, {{0}}, 2, 0, false, 0},
	{{{CALLS_GE, 5, 0}, {CALLS_LE, 4, 0}}, {{0}}, 2, 0, false, 0},
	{{{CALLS_GE, 5, 0}, {CALLS_LE, 5, 0}}, {{0}}, 2, 0, true, 5},
	/* Masks: the bits there, the lowest number with them from there on. */
	{{{CALLS_MASKED, TOP, TOP}}, {{0}}, 1, 0, true, TOP},
	{{{CALLS_MASKED, 4, 4}, {CALLS_LE, 4, 0}}, {{0}}, 2, 0, true, 4},
	{{{CALLS_MASKED, 4, 6}, {CALLS_GT, 5, 0}}, {{0}}, 2, 0, true, 12},
	{{{CALLS_MASKED, 4, 6}, {CALLS_GT, 4, 0}}, {{0}}, 2, 0, true, 5},
	{{{CALLS_MASKED, 4, 6}, {CALLS_LT, 4, 0}}, {{0}}, 2, 0, false, 0},
	{{{CALLS_MASKED, 0, 6}, {CALLS_GE, 2, 0}}, {{0}}, 2, 0, true, 8},
	{{{CALLS_MASKED, 0, 6}, {CALLS_GE, 2, 0}},
	 {{CALLS_GE, 8, 0}},
	 2,
	 1,
	 false,
	 0},
	{{{CALLS_MASKED, 0, TOP}, {CALLS_GE, TOP, 0}}, {{0}}, 2, 0, false, 0},
	{{{CALLS_MASKED, 2, 3}, {CALLS_MASKED, 1, 1}}, {{0}}, 2, 0, false, 0},
	{{{CALLS_MASKED, 2, 3}, {CALLS_MASKED, 6, 6}}, {{0}}, 2, 0, true, 6},
	/* Outside of a mask one of its bits differs. */
	{{{CALLS_LE, 7, 0}}, {{CALLS_MASKED, 0, 4}}, 1, 1, true, 4},
	{{{CALLS_LE, 3, 0}}, {{CALLS_MASKED, 0, 4}}, 1, 1, false, 0},
	{{{CALLS_EQ, 5, 0}}, {{CALLS_MASKED, 5, 5}}, 1, 1, false, 0},
	{{{CALLS_EQ, 4, 0}}, {{CALLS_MASKED, 5, 5}}, 1, 1, true, 4},
	{{{CALLS_EQ, 1, 0}}, {{CALLS_MASKED, 5, 5}}, 1, 1, true, 1},
	{{{CALLS_EQ, 0, 0}}, {{CALLS_MASKED, 3, 3}}, 1, 1, true, 0},
	{{{CALLS_EQ, 1, 0}}, {{CALLS_MASKED, 3, 3}}, 1, 1, true, 1},
	{{{CALLS_EQ, 2, 0}}, {{CALLS_MASKED, 3, 3}}, 1, 1, true, 2},
	{{{CALLS_EQ, 3, 0}}, {{CALLS_MASKED, 3, 3}}, 1, 1, false, 0},
	{{{CALLS_LE, 9, 0}},
	 {{CALLS_LT, 4, 0}, {CALLS_GT, 4, 0}},
	 1,
	 2,
	 true,
	 4},
	{{{CALLS_LE, 9, 0}},
	 {{CALLS_LE, 4, 0}, {CALLS_GE, 5, 0}},
	 1,
	 2,
	 false,
	 0},
};

static struct calls_rule rule_of(const struct condition *c)
{
	return (struct calls_rule){
		.n = 1, .conditions = {{3, c->op, c->value, c->mask}}};
}

static void check_sets(void)
{
	for (size_t i = 0; i < ARRAY_LEN(sets); i++) {
		struct calls_rule in[2], out[2];
		const struct calls_rule *ins[] = {&in[0], &in[1]};
		const struct calls_rule *outs[] = {&out[0], &out[1]};
		struct calls_budget budget = {1000};
		struct calls_point p;
		bool found;

		for (int k = 0; k < 2; k++) {
			in[k] = rule_of(&sets[i].in[k]);
			out[k] = rule_of(&sets[i].out[k]);
		}
		found = calls_solve(&budget, ins, sets[i].n_in, outs,
				    sets[i].n_out, &p);
		CHECK_MSG(found == sets[i].found, "%zu", i);
		CHECK_MSG(!found || p.args[3] == sets[i].value, "%zu: %llu", i,
			  (unsigned long long)p.args[3]);
	}
}

/*
 * Of a rule with two conditions, of which the first leaves two stretches: what
 * is outside of the second lies on either side.
 */
static void check_stretches(void)
{
	const struct calls_rule in = {
		.n = 2,
		.conditions = {{0, CALLS_GT, 5, 0}, {1, CALLS_LE, 1, 0}}};
	const struct calls_rule out = {
		.n = 2,
		.conditions = {{0, CALLS_NE, 5, 0}, {1, CALLS_EQ, 0, 0}}};
	const struct calls_rule *ins[] = {&in}, *outs[] = {&out};
	struct calls_budget budget = {1000};
	struct calls_point p;

	CHECK(calls_solve(&budget, ins, 1, outs, 1, &p));
	CHECK(p.args[0] == 6 && p.args[1] == 1 && p.args[2] == 0);
}

/* What meets the first condition of a rule may be outside of its second. */
static void check_second(void)
{
	const struct calls_rule in = {.n = 1,
				      .conditions = {{0, CALLS_EQ, 5, 0}}};
	const struct calls_rule out = {
		.n = 2,
		.conditions = {{0, CALLS_EQ, 5, 0}, {1, CALLS_EQ, 0, 0}}};
	const struct calls_rule *ins[] = {&in}, *outs[] = {&out};
	struct calls_budget budget = {1000};
	struct calls_point p;

	CHECK(calls_solve(&budget, ins, 1, outs, 1, &p));
	CHECK(p.args[0] == 5 && p.args[1] == 1);
}

/* Without steps left there is no answer, and it says so by having none. */
static void check_budget(void)
{
	struct condition c = {CALLS_EQ, 1, 0};
	struct calls_rule rule = rule_of(&c);
	const struct calls_rule *rules[] = {&rule, &rule};
	struct calls_point p;

	for (uint32_t steps = 0; steps < 6; steps++) {
		struct calls_budget budget = {steps};
		bool found = calls_solve(&budget, rules, 2, NULL, 0, &p);

		/* Two conditions, and what is outside of nothing. */
		CHECK_MSG(found == (steps > 3) &&
				  budget.steps == (steps > 3 ? steps - 3 : 0),
			  "%u", steps);
	}
}

/*
 * Where nothing is left that meets the first condition, its second one is not
 * looked into: it takes no steps.
 */
static void check_short_cut(void)
{
	const struct calls_rule in = {.n = 1,
				      .conditions = {{0, CALLS_EQ, 6, 0}}};
	const struct calls_rule out[] = {
		{.n = 2,
		 .conditions = {{0, CALLS_EQ, 5, 0}, {1, CALLS_EQ, 0, 0}}},
		{.n = 1, .conditions = {{0, CALLS_EQ, 6, 0}}},
	};
	const struct calls_rule *ins[] = {&in}, *outs[] = {&out[0], &out[1]};
	struct calls_budget budget = {1000};
	struct calls_point p;

	CHECK(!calls_solve(&budget, ins, 1, outs, 2, &p));
	/* The condition, and what is outside of each rule. */
	CHECK_MSG(budget.steps == 1000 - 3, "%u", budget.steps);
}

/* --- bounds --------------------------------------------------------------- */

/* That many entries about one name. */
static int read_many(struct arena *a, uint32_t n, struct calls *out,
		     struct err *err)
{
	struct buf b;

	buf_init(&b, a);
	for (uint32_t i = 0; i < n; i++)
		buf_addf(&b,
			 "%s{'names': ['a'], 'action': 'SCMP_ACT_ALLOW', "
			 "'args': [{'index': 0, 'op': 'SCMP_CMP_EQ', "
			 "'value': %u}]}",
			 i ? ", " : "", i);
	return calls_read(a, str_of(profile_text(a, "ERRNO", "", b.p)), out,
			  err);
}

static void check_bounds(void)
{
	struct arena *a = arena_new();
	struct calls most, fewer;
	struct err err = {0};

	CHECK(read_many(a, LIMIT_CALLS_RULES + 1, &most, &err) == -E2BIG);
	CHECK_MSG(
		strcmp(err.text,
		       "too many entries and conditions about 'a' to be compared") ==
			0,
		"%s", err.text);
	CHECK(read_many(a, LIMIT_CALLS_RULES, &most, &err) == 0);
	CHECK(read_many(a, LIMIT_CALLS_RULES - 1, &fewer, &err) == 0);
	CHECK(str_is(said(a, &fewer, &most),
		     "+ call a with argument 0 = 63\n"));
	CHECK(str_is(said(a, &most, &fewer),
		     "- call a with argument 0 = 63\n"));
	arena_free(a);
}

/*
 * All of the call is open, which the last entry says: before, whatever is
 * outside of the others has been tried, each of them about bits of its own.
 */
static void check_steps(void)
{
	struct arena *a = arena_new();
	struct comparison c = {0};
	struct err err = {0};
	struct calls was, is;
	struct buf b;

	was = read_profile(a, "ERRNO", "", CALL("a", "ALLOW", ""));
	buf_init(&b, a);
	for (unsigned i = 0; i < 4; i++) {
		buf_adds(&b, "{'names': ['a'], 'action': 'SCMP_ACT_ALLOW', "
			     "'args': [");
		for (unsigned k = 0; k < CALLS_ARGS; k++)
			buf_addf(&b,
				 "%s{'index': %u, 'op': 'SCMP_CMP_MASKED_EQ', "
				 "'value': %llu, 'valueTwo': 0}",
				 k ? ", " : "", k, 0x1fffull << 13 * i);
		buf_adds(&b, "]}, ");
	}
	buf_adds(&b, CALL("a", "ALLOW", ""));
	is = read_profile(a, "ERRNO", "", b.p);
	CHECK(calls_compare(a, &was, &is, &c, &err) == -E2BIG);
	CHECK_MSG(strcmp(err.text,
			 "too many entries and conditions to be compared") == 0,
		  "%s", err.text);
	CHECK(c.changes.n == 0);
	arena_free(a);
}

/*
 * Entries that differ in the last argument alone, which is looked at when all
 * that the others leave has been tried.
 */
static void check_read_steps(void)
{
	struct arena *a = arena_new();
	struct calls calls;
	struct err err = {0};
	struct buf b;

	buf_init(&b, a);
	for (unsigned i = 0; i < LIMIT_CALLS_RULES; i++) {
		buf_addf(
			&b,
			"%s{'names': ['a', 'b', 'c'], "
			"'action': 'SCMP_ACT_ERRNO', 'errnoRet': %u, 'args': [",
			i ? ", " : "", 1 + i);
		for (unsigned k = 0; k < CALLS_ARGS - 1; k++)
			buf_addf(&b,
				 "{'index': %u, 'op': 'SCMP_CMP_NE', "
				 "'value': %u}, ",
				 k, 1 + i);
		buf_addf(&b, "{'index': 5, 'op': 'SCMP_CMP_EQ', 'value': %u}]}",
			 i);
	}
	CHECK(calls_read(a, str_of(profile_text(a, "ERRNO", "", b.p)), &calls,
			 &err) == -E2BIG);
	CHECK_MSG(strncmp(err.text, "too many entries and conditions about '",
			  39) == 0,
		  "%s", err.text);
	arena_free(a);
}

int main(void)
{
	check_words();
	check_rest();
	check_sets();
	check_stretches();
	check_second();
	check_budget();
	check_short_cut();
	check_bounds();
	check_steps();
	check_read_steps();
	return check_status();
}
