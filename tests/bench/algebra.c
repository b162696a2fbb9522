/*
 * How long it takes to compare two policies of 10,000 grants each, that have
 * nothing in common, by what their grants are about; and to find the rules
 * that do nothing in one of them. A line per shape: its name, and the seconds
 * of reading the two, of the comparison and of the rules.
 *
 *	algebra [GRANTS]
 */
#include "compiler/algebra/compare/compare.h"
#include "compiler/algebra/compare/parts.h"

#include "tests/policy.h"
#include "tests/bench/clock.h"


/* One grant; a word that differs makes that of the other side. */
static int name_line(char *out, int i, int side)
{
	return sprintf(out, "allow %c%d.zone%d.example.com:%d\n", "hg"[side], i,
		       i % 97, 443 + i % 50);
}

/* The same names on both sides, and yet each of them widened. */
static int wider_line(char *out, int i, int side)
{
	return sprintf(out, "allow *.h%d.example.com:%d%s\n", i, 443 + i % 50,
		       side ? " private" : "");
}

static int net_line(char *out, int i, int side)
{
	return sprintf(out, "allow %d.%d.%d.0/24 tcp/%d\n", 20 + side,
		       i / 256 % 256, i % 256, 443 + i % 50);
}

static int url_line(char *out, int i, int side)
{
	return sprintf(out, "allow https://api.test/%c%d/\n", "pq"[side], i);
}

static int mixed_line(char *out, int i, int side)
{
	static int (*const lines[])(char *, int, int) = {name_line, wider_line,
							 net_line, url_line};
	int n = lines[i % 4](out, i, side);

	if (i % 20 == 0)
		n += sprintf(out + n, "deny x%d.h%d.example.com\n", side, i);
	return n;
}

static void measure(const char *what, int n,
		    int (*line)(char *out, int i, int side))
{
	struct rule_finding *allow, *deny;
	struct test_policy t[2];
	struct comparison c;
	double begun, read, compared, found;

	begun = now_s();
	for (int side = 0; side < 2; side++) {
		char *text = malloc((size_t)n * 160), *p = text;

		for (int i = 0; i < n; i++)
			p += line(p, i, side);
		if (!test_policy_make(&t[side], text))
			abort();
	}
	read = now_s();
	compare_policies(t[0].a, &t[0].policy, &t[1].policy, &c);
	compared = now_s();
	/* Beyond a limit it would be fast because it gave up. */
	vec_each(x, &c.changes)
		if (x->way == ACCESS_OTHER)
			abort();
	if (!rules_find(t[1].a, &t[1].policy, &allow, &deny))
		abort();
	found = now_s();
	printf("%s\t%u\t%.4f\t%.4f\t%.4f\n", what, c.changes.n, read - begun,
	       compared - read, found - compared);
	test_policy_done(&t[0]);
	test_policy_done(&t[1]);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 10000;

	measure("names", n, name_line);
	measure("names made private", n, wider_line);
	measure("networks", n, net_line);
	measure("paths of one host", n, url_line);
	measure("all of these", n, mixed_line);
	return 0;
}
