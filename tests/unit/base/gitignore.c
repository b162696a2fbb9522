#include "compiler/base/gitignore.h"

#include "tests/check.h"

#include <string.h>

/* A pattern, a path (a directory when it ends in a slash), do they match? */
static const struct {
	const char *pattern, *path;
	bool match;
} cases[] = {
	{".env", ".env", true},
	{".env", "a/b/.env", true},
	{".env", "a/.env/", true},
	{".env", ".envrc", false},
	{"/.env", ".env", true},
	{"/.env", "a/.env", false},
	{"a/b", "a/b", true},
	{"a/b", "x/a/b", false},
	{"secrets/", "secrets/", true},
	{"secrets/", "secrets", false},
	{"secrets/", "a/secrets/", true},
	{"*.pem", "k.pem", true},
	{"*.pem", "a/b.c/.pem", true},
	{"*.pem", "a.pem/x", false},
	{"*.tar.gz", "x.tar.gz", true},
	{"*.tar.gz", "x.gz", false},
	{"*", "anything", true},
	{"*~", "a~", true},
	{"*a", "b/ba", true},
	{"a*", "b/ab", true},
	{"a*c", "abbbc", true},
	{"a*c", "abbb", false},
	{"a*b*c", "aXbYbZc", true},
	{"?", "a", true},
	{"?", "ab", false},
	{"a/*", "a/b", true},
	{"a/*", "a/b/c", false},
	{"a/*/c", "a/b/c", true},
	{"a/*/c", "a/b/b/c", false},
	{"a/?/c", "a///c", false},
	{"**/foo", "foo", true},
	{"**/foo", "a/b/foo", true},
	{"**/foo/bar", "a/foo/bar", true},
	{"**/foo/bar", "afoo/bar", false},
	{"foo/**", "foo/", false},
	{"foo/**", "foo/a", true},
	{"foo/**", "foo/a/b", true},
	{"a/**/b", "a/b", true},
	{"a/**/b", "a/x/b", true},
	{"a/**/b", "a/x/y/b", true},
	{"a/**/b", "a/xb", false},
	{"a/**/b/**/c", "a/b/b/x/c", true},
	{"a/**/*b/c", "a/x/ab/b/c", true},
	{"a/**/*x*/c", "a/bxb/d/axa/c", true},
	{"a**/b", "ac/b", true},
	{"a**/b", "ac/d/b", false},
	{"**", "a/b", true},
	{"/**", "a/b", true},
	{"[abc]", "b", true},
	{"[!abc]", "b", false},
	{"[^abc]", "d", true},
	{"[a-c]x", "bx", true},
	{"[]-]", "]", true},
	{"[]-]", "-", true},
	{"[!]a]", "]", false},
	{"[a-]", "-", true},
	{"[\\]]", "]", true},
	{"[a\\-c]", "b", false},
	{"[[:digit:]x]", "7", true},
	{"[[:digit:]x]", "x", true},
	{"[[:digit:]x]", "y", false},
	{"[[:space:]]", " ", true},
	{"a[!x]b", "a/b", false},
	{"x/a[/]b", "x/a/b", false},
	{"\\#a", "#a", true},
	{"\\!a", "!a", true},
	{"a\\ ", "a ", true},
	{"a\\  ", "a ", true},
	{"a  ", "a", true},
	{"a b", "a b", true},
	{"\\*", "*", true},
	{"\\*", "a", false},
	{"a\\/b", "a/b", true},
	{".git/modules/*/hooks", ".git/modules/sub/hooks/", true},
	{"\xff*", "\xff\xfe", true},
	{"\xc3\xa9", "\xc3\xa9", true},
	{"???", "\xe2\x82\xac", true}, /* bytes, not characters */
	{"a*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false},
};

/* F-1, F-2, F-3, F-4 */
static void test_cases(struct arena *a)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct gitignore *g = gitignore_new(a);
		struct str path = str_of(cases[i].path);
		bool dir = path.p[path.n - 1] == '/';
		enum gitignore_verdict v;

		path.n -= dir;
		CHECK(gitignore_add(g, str_of(cases[i].pattern), NULL) ==
		      GITIGNORE_OK);
		v = gitignore_match(g, path, dir, NULL);
		CHECK_MSG((v == GITIGNORE_MATCH) == cases[i].match, "%s on %s",
			  cases[i].pattern, cases[i].path);
	}
}

static const struct {
	const char *line;
	enum gitignore_fault fault;
	size_t at;
} faults[] = {
	{"", GITIGNORE_BLANK, 0},
	{"   ", GITIGNORE_BLANK, 0},
	{"# note", GITIGNORE_BLANK, 0},
	{"!", GITIGNORE_BLANK, 0},
	{"a[b", GITIGNORE_CLASS, 1},
	{"!x/[z", GITIGNORE_CLASS, 3},
	{"[[:nosuch:]]", GITIGNORE_CLASS, 0},
	{"[]", GITIGNORE_CLASS, 0},
	{"ab\\", GITIGNORE_ESCAPE, 2},
	{"/ab\\/", GITIGNORE_ESCAPE, 3},
	{"a\tb", GITIGNORE_CONTROL, 1},
	{"a\r", GITIGNORE_CONTROL, 1},
	{"/", GITIGNORE_ABOVE, 1},
	{"../x", GITIGNORE_ABOVE, 0},
	{"./x", GITIGNORE_ABOVE, 0},
	{"a/../b", GITIGNORE_ABOVE, 2},
	{"a//b", GITIGNORE_ABOVE, 2},
	{"a//", GITIGNORE_ABOVE, 2},
	{"..", GITIGNORE_ABOVE, 0},
};

static void test_faults(struct arena *a)
{
	struct gitignore *g = gitignore_new(a);

	for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
		size_t at = 99;
		enum gitignore_fault f =
			gitignore_add(g, str_of(faults[i].line), &at);

		CHECK_MSG(f == faults[i].fault && at == faults[i].at,
			  "'%s': fault %d at %zu", faults[i].line, (int)f, at);
		CHECK(gitignore_fault_text(f)[0]);
	}
	CHECK(gitignore_count(g) == 0);
}

/* F-5 */
static void test_order(struct arena *a)
{
	struct gitignore *g = gitignore_new(a);
	uint32_t by = 99;

	CHECK(gitignore_match(g, STR("x"), false, &by) == GITIGNORE_NONE);
	CHECK(gitignore_add(g, STR("*.key"), NULL) == GITIGNORE_OK);
	CHECK(gitignore_add(g, STR("!pub*.key"), NULL) == GITIGNORE_OK);
	CHECK(gitignore_add(g, STR("public.key"), NULL) == GITIGNORE_OK);
	CHECK(gitignore_add(g, STR("!/a/public.key"), NULL) == GITIGNORE_OK);
	CHECK(gitignore_match(g, STR("x.key"), false, &by) == GITIGNORE_MATCH);
	CHECK(by == 0);
	CHECK(gitignore_match(g, STR("pub.key"), false, &by) == GITIGNORE_BACK);
	CHECK(by == 1);
	CHECK(gitignore_match(g, STR("public.key"), false, &by) ==
	      GITIGNORE_MATCH);
	CHECK(by == 2);
	CHECK(gitignore_match(g, STR("a/public.key"), false, &by) ==
	      GITIGNORE_BACK);
	CHECK(by == 3);
}

/* Many more than there are buckets at first: growing keeps the order. */
static void test_many(struct arena *a)
{
	struct gitignore *g = gitignore_new(a);
	uint32_t by;

	for (unsigned i = 0; i < 4000; i++)
		CHECK(gitignore_add(g,
				    arena_fmt(a, "%sname%u", i % 3 ? "" : "!",
					      i % 1000),
				    NULL) == GITIGNORE_OK);
	for (unsigned i = 3000; i < 4000; i++) {
		enum gitignore_verdict want =
			i % 3 ? GITIGNORE_MATCH : GITIGNORE_BACK;

		CHECK(gitignore_match(g, arena_fmt(a, "d/name%u", i % 1000),
				      false, &by) == want);
		CHECK(by == i);
	}
}

int main(void)
{
	struct arena *a = arena_new();

	test_cases(a);
	test_faults(a);
	test_order(a);
	test_many(a);
	arena_free(a);
	return check_status();
}
