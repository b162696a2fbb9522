/*
 * compare.h, of files whose patterns tell apart more sets of paths than are
 * walked (limits.h): what is not looked at is said to be unknown, and nothing
 * is where it cannot matter.
 */
#include "compiler/algebra/compare/parts.h"

#include "tests/unit/algebra/compared.h"

/* Which of the last so many bytes were an 'a': a set of paths for each. */
#define MANY "ignore *a?????????????????\n"
/* All that people know. */
#define USUAL                                                                  \
	"readonly README.md\n"                                                 \
	"readonly main.c\n"                                                    \
	"readonly Makefile\n"                                                  \
	"readonly index.md\n"

static const struct compared_case cases[] = {
	/* In another order anything may come of it. */
	{MANY "ignore x\n"
	      "ignore !x\n",
	 MANY "ignore !x\n"
	      "ignore x\n",
	 "- read x | read x\n"
	 "\told 'ignore !x': granted -> ignored\n"
	 "~ more combinations of patterns than can be compared\n"
	 "\tnew '-'\n"},
	/* A line that hides nothing of its own: one less may give, one more can
	   only take. */
	{MANY "ignore b\n"
	      "ignore /b\n",
	 MANY "ignore b\n",
	 "~ more combinations of patterns than can be compared\n"
	 "\tnew '-'\n"},
	{MANY "ignore b\n",
	 MANY "ignore b\n"
	      "ignore /b\n",
	 "- perhaps more: too many combinations of patterns, of which none gives access\n"
	 "\tnew '-'\n"},
	/* What its example does not show the walk does, and ends there. */
	{MANY, MANY "ignore [bc]\n",
	 "- read [bc] | read b\n"
	 "\tnew 'ignore [bc]': granted -> ignored\n"},
	/* What the examples show is all. */
	{MANY USUAL, MANY USUAL "ignore b\n",
	 "- read b | read b\n"
	 "\tnew 'ignore b': granted -> ignored\n"},
};

/* Of what is the same only what is kept is unknown. */
static const struct compared_case kept[] = {
	{MANY USUAL, MANY USUAL,
	 "= read what nothing hides | read README.md\n"
	 "\tnew '-': granted -> granted\n"
	 "= write what nothing protects | write x\n"
	 "\tnew '-': granted -> granted\n"},
};

int main(void)
{
	compared_check(cases, ARRAY_LEN(cases), compared_read, false,
		       files_compare);
	compared_check(kept, ARRAY_LEN(kept), compared_read, true,
		       files_compare);
	return check_status();
}
