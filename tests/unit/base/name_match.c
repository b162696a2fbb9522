/* Names against patterns, and patterns against wider ones. */
#include "compiler/base/name_match.h"
#include "tests/check.h"

static const struct {
	const char *pattern, *name;
	bool match;
} cases[] = {
	{"a.test", "a.test", true},
	{"a.test", "b.test", false},
	{"a.test", "x.a.test", false},
	{"x.a.test", "a.test", false},
	{"*.x.test", "a.x.test", true},
	{"*.x.test", "x.test", false},
	{"*.x.test", "b.a.x.test", false},
	{"**.x.test", "a.x.test", true},
	{"**.x.test", "b.a.x.test", true},
	{"**.x.test", "x.test", false},
	{"**.x.test", "ax.test", false},
	{"**.x.*.test", "b.a.x.y.test", true},
	{"**.x.*.test", "x.y.test", false},
	{"a.*.test", "a.b.test", true},
	{"a.*.test", "a.test", false},
	{"*.*.test", "a.b.test", true},
	{"*.*.test", "b.test", false},
	{"*.test", "a.best", false},
	{"**", "test", true},
	{"**", "", false},
	/* names that are patterns */
	{"*.x.test", "*.x.test", true},
	{"a.x.test", "*.x.test", false},
	{"**.x.test", "*.x.test", true},
	{"**.x.test", "**.x.test", true},
	{"**.x.test", "**.a.x.test", true},
	{"**.a.x.test", "**.x.test", false},
	{"*.x.test", "**.x.test", false},
	{"*.*.x.test", "**.x.test", false},
	{"**", "**.x.test", true},
};

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		CHECK_MSG(name_matches(str_of(cases[i].pattern),
				       str_of(cases[i].name)) == cases[i].match,
			  "%s %s", cases[i].pattern, cases[i].name);
	return check_status();
}
