/*
 * compare.h, of what `tls` says of single grants.
 */
#include "compiler/algebra/compare/parts.h"

#include "tests/unit/algebra/compared.h"

static const struct compared_case cases[] = {
	/* As many destinations as a list has room for. */
	{"allow a.test verify\n"
	 "allow b.test\n"
	 "allow c.test\n"
	 "allow d.test\n"
	 "allow e.test\n"
	 "allow f.test\n"
	 "allow g.test\n"
	 "allow h.test verify\n",
	 "allow a.test verify\n"
	 "allow b.test\n"
	 "allow c.test\n"
	 "allow d.test\n"
	 "allow e.test\n"
	 "allow f.test\n"
	 "allow g.test\n"
	 "allow h.test inspect\n",
	 "- tls of h.test verify -> inspect\n"
	 "\tnew 'allow h.test inspect'\n"
	 "= tls of a.test verify\n"
	 "\tnew 'allow a.test verify'\n"},
};

int main(void)
{
	compared_check(cases, ARRAY_LEN(cases), compared_read, true,
		       inspect_compare);
	return check_status();
}
