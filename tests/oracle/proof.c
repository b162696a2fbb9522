/*
 * Every plan of a generated policy does what the policy says, cell by cell:
 * policies that are dense (what is granted is denied, networks and names
 * overlap, the gate's own numbers, "private: false"). And of plans with one
 * line less, or with two lines of rules exchanged, a proof says so where it
 * makes a difference: how many those are is counted. A policy that disagrees is
 * shown with the smallest part of it that still does.
 *
 *	proof [POLICIES [SEED]]
 */
#include "compiler/emit/parts.h"
#include "compiler/emit/nft/nft.h"
#include "compiler/prove/prove.h"

#include "tests/check.h"
#include "tests/oracle/generate.h"
#include "tests/oracle/scaled.h"
#include "tests/policy.h"

#define EDITS 4 /* of each plan */
/* Percent of edits that a proof sees, at least: the rest changes nothing. */
#define SEEN_MIN 50

static unsigned long long cells, largest;
static unsigned plans, edits, seen;

static struct prove_in plan_of(struct test_policy *t)
{
	return (struct prove_in){&t->policy, test_policy_emit(t, nft_emit),
				 test_policy_emit(t, names_emit), NULL};
}

static enum prove_end prove_text(const char *policy, struct prove_out *out)
{
	struct test_policy t;
	struct prove_in in;

	*out = (struct prove_out){.end = PROVE_AGREES};
	if (test_policy_make(&t, policy)) {
		in = plan_of(&t);
		prove_plan(t.a, &in, out);
		if (out->end != PROVE_AGREES) {
			fprintf(stderr, "%.*s: policy %.*s, plan %.*s, %s:%u\n",
				STR_ARG(out->subject), STR_ARG(out->wanted),
				STR_ARG(out->got),
				out->by.file ? out->by.file : out->what,
				out->by.line);
			if (out->by.text.n)
				fprintf(stderr, "%.*s\n",
					STR_ARG(out->by.text));
		}
	}
	test_policy_done(&t);
	return out->end;
}

static void show(struct gen_policy *p, uint64_t seed)
{
	uint32_t mask = UINT32_MAX;
	struct prove_out out;

	for (uint32_t i = 0; i < p->n; i++)
		if (prove_text(gen_text(p, mask & ~(1u << i)), &out) !=
		    PROVE_AGREES)
			mask &= ~(1u << i);
	prove_text(gen_text(p, mask), &out);
	CHECK_MSG(false, "seed %llu:\n%s", (unsigned long long)seed, p->text);
}

/* Line i of a text, with its end. */
static struct str line_at(struct str text, uint32_t i)
{
	struct str line = {0};

	while (str_line(&text, &line) && i--)
		;
	return (struct str){line.p, line.n + 1};
}

/* A rule about a set. */
static bool is_rule(struct str line)
{
	return str_starts(line, STR("\t\tip")) &&
	       str_find(line, '@', 0) < line.n;
}

/* Not what the registry of addresses says: the gate knows that, too. */
static bool is_record(struct str line)
{
	return str_starts(line, STR("name ")) ||
	       str_starts(line, STR("cover ")) ||
	       str_starts(line, STR("ask ")) ||
	       str_starts(line, STR("deny ")) ||
	       str_starts(line, STR("guard "));
}

/* Without a line, or with it behind the next. */
static struct str edited(struct test_policy *t, struct str text, uint32_t i,
			 bool swap)
{
	struct str line = line_at(text, i), next = line_at(text, i + 1);
	size_t at = (size_t)(line.p - text.p);
	struct buf b;

	buf_init(&b, t->a);
	buf_add(&b, str_slice(text, 0, at));
	if (swap) {
		buf_add(&b, next);
		buf_add(&b, line);
		at += next.n;
	}
	buf_add(&b, str_slice(text, at + line.n, text.n));
	return buf_str(&b);
}

/* One of the lines that are of a kind; false where there is none. */
static bool pick_line(struct rng *r, struct str text,
		      bool (*is)(struct str line), uint32_t *out)
{
	uint32_t n = 0, at = 0;
	struct str line;

	for (struct str rest = text; str_line(&rest, &line);)
		n += is(line);
	if (n == 0)
		return false;
	n = rng_below(r, n);
	for (struct str rest = text; str_line(&rest, &line); at++)
		if (is(line) && n-- == 0)
			break;
	*out = at;
	return true;
}

static void edit_plan(struct rng *r, const char *policy)
{
	struct test_policy t;
	struct prove_out out;
	struct prove_in in;

	if (test_policy_make(&t, policy))
		for (int k = 0; k < EDITS; k++) {
			bool rules = rng_below(r, 3) > 0, swap;
			struct str *part;
			uint32_t i;

			in = plan_of(&t);
			part = rules ? &in.ruleset : &in.names;
			if (!pick_line(r, *part, rules ? is_rule : is_record,
				       &i))
				continue;
			swap = rules && rng_below(r, 4) == 0 &&
			       is_rule(line_at(*part, i + 1));
			*part = edited(&t, *part, i, swap);
			prove_plan(t.a, &in, &out);
			edits++;
			seen += out.end != PROVE_AGREES;
		}
	test_policy_done(&t);
}

int main(int argc, char **argv)
{
	unsigned policies = argc > 1 ? (unsigned)atoi(argv[1]) : SCALED(300, 10);
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	static struct gen_policy p;

	for (unsigned i = 0; i < policies && check_failed < 5; i++) {
		struct rng r = {seed + i};
		struct prove_out out;

		gen_policy(&r, &p);
		if (i % 3 == 2)
			gen_asks(&r, &p);
		if (prove_text(gen_text(&p, UINT32_MAX), &out) !=
		    PROVE_AGREES) {
			show(&p, seed + i);
			continue;
		}
		check_passed++;
		plans++;
		cells += out.cells;
		if (out.cells > largest)
			largest = out.cells;
		edit_plan(&r, p.text);
	}
	CHECK_MSG(policies < 50 || seen * 100 >= edits * SEEN_MIN,
		  "%u of %u edits were seen", seen, edits);
	printf("%u plans from seed %llu: %llu cells, %llu in the largest; "
	       "%u of %u edits seen\n",
	       plans, (unsigned long long)seed, cells, largest, seen, edits);
	return check_status();
}
