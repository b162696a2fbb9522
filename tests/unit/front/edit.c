/*
 * Items more and less in the text of a policy, in the shapes that YAML has.
 */
#include "compiler/front/yaml/edit.h"

#include "tests/check.h"

#include <string.h>

static struct arena *a;

static void add(const char *text, const char *key, const char *item,
		const char *wanted)
{
	struct str out = {0};
	bool ok = edit_add(a, str_of(text), key, str_of(item), &out);

	CHECK_MSG(wanted ? ok && str_is(out, wanted) : !ok, "%s: %.*s", text,
		  STR_ARG(out));
}

/* The item that begins with what; wanted NULL: it is left alone. */
static void less(const char *text, const char *what, const char *wanted)
{
	struct str out = {0};
	size_t at = (size_t)(strstr(text, what) - text);
	bool ok = edit_remove(a, str_of(text), at, NULL, &out);

	CHECK_MSG(wanted ? ok && str_is(out, wanted) : !ok, "%s: %.*s", text,
		  STR_ARG(out));
}

static void more(const char *text, const char *what, const char *key,
		 const char *item, const char *wanted)
{
	struct str out = {0};
	size_t at = (size_t)(strstr(text, what) - text);
	bool ok = edit_extend(a, str_of(text), at, key, str_of(item), &out);

	CHECK_MSG(wanted ? ok && str_is(out, wanted) : !ok, "%s: %.*s", text,
		  STR_ARG(out));
}

static void check_add(void)
{
	add("", "allow", "x", "allow:\n  - x\n");
	add("# c", "allow", "x", "# c\nallow:\n  - x\n");
	add("allow: [a]\n", "allow", "x", "allow: [a, x]\n");
	add("allow: []\n", "allow", "x", "allow: [x]\n");
	add("allow: [\n  a,\n  b\n]\n", "allow", "x",
	    "allow: [\n  a,\n  b,\n  x\n]\n");
	add("allow:\n- a\n- b # c\ndeny: [d]", "allow", "x",
	    "allow:\n- a\n- b # c\n- x\ndeny: [d]");
	add("allow:\n    - a", "allow", "x", "allow:\n    - a\n    - x\n");
	add("allow:\n  - dest: a\n    ports:\n      - 1\n\n# end\n", "allow",
	    "x",
	    "allow:\n  - dest: a\n    ports:\n      - 1\n  - x\n\n# end\n");
	add("deny: [d]\n...\n", "allow", "x",
	    "deny: [d]\nallow:\n  - x\n...\n");
	add("{\"deny\": [\"d\"]}\n", "allow", "x",
	    "{\"deny\": [\"d\"], allow: [x]}\n");
	add("{}", "allow", "x", "{allow: [x]}");
	add("network:\n  allow:\n    - a\nignore: [i]\n", "deny", "x",
	    "network:\n  allow:\n    - a\n  deny:\n    - x\nignore: [i]\n");
	add("network: {allow: [a]}\n", "allow", "x",
	    "network: {allow: [a, x]}\n");
	add("allow: a\n", "allow", "x", NULL);
	add("- a\n", "allow", "x", NULL);
	add("a: [\n", "allow", "x", NULL);
}

static void check_remove(void)
{
	less("allow:\n  - a\n  - b # c\n  - d\n", "b",
	     "allow:\n  - a\n  - d\n");
	less("allow:\n  - a\ndeny: [d]\n", "a\n", "deny: [d]\n");
	less("network:\n  deny:\n    - b\n  allow: [x]\n", "b\n",
	     "network:\n  deny: []\n  allow: [x]\n");
	less("deny: [d, e, f]\n", "d,", "deny: [e, f]\n");
	less("deny: [d, e, f]\n", "f", "deny: [d, e]\n");
	less("deny: [\"d\"]\n", "\"d", "deny: []\n");
	less("allow:\n  - dest: b\n    http:\n      - methods: [GET]\n  - c\n",
	     "b\n", "allow:\n  - c\n");
	less("allow:\n  - {dest: b, ports: [1]}\n  - c\n", "b,",
	     "allow:\n  - c\n");
	less("allow: [{dest: b, ports: [1]}, c]\n", "b,", "allow: [c]\n");
	less("image: x\n", "x", NULL);
	less("allow:\n  - &k a\n  - b\n", "a\n  - b", "allow:\n  - b\n");
	/* What aliases stand for, and where they stand. */
	less("allow: [&k a, b]\ndeny: [*k, c]\n", "a, b",
	     "allow: [b]\ndeny: [&k a, c]\n");
	less("allow:\n  - &k {dest: a}\n  - b\nhostnames: [*k, *k]\n", "dest",
	     "allow:\n  - b\nhostnames: [&k {dest: a}, *k]\n");
	less("allow: &k\n  - dest: &d a\n  - b\nx: *d\n", "b\nx",
	     "allow: &k\n  - dest: &d a\nx: *d\n");
}

/* Of lists that two keys have, the one that is meant. */
static void check_aliases(void)
{
	static const struct {
		const char *text, *at, *key, *without;
	} cases[] = {
		{"hostnames: &n [a, b]\ndeny: *n\n", "b]", "deny",
		 "hostnames: &n [a, b]\ndeny: [a]\n"},
		{"hostnames: &n [a, b]\ndeny: *n\n", "b]", "hostnames",
		 "hostnames: &n [a]\ndeny: *n\n"},
		{"hostnames: &n\n  - a\n  - b\nnetwork:\n  deny: *n # c\n",
		 "a\n", "deny",
		 "hostnames: &n\n  - a\n  - b\nnetwork:\n  deny: [b] # c\n"},
		{"tests: {deny: &d [a]}\ndeny: *d\n", "a]", "deny",
		 "tests: {deny: &d [a]}\ndeny: []\n"},
		{"hostnames: [&x a, b]\ndeny: [c, *x]\n", "a,", "deny",
		 "hostnames: [&x a, b]\ndeny: [c]\n"},
		{"hostnames: [&x a, b]\ndeny:\n  - *x\n  - c\n", "a,", "deny",
		 "hostnames: [&x a, b]\ndeny:\n  - c\n"},
		{"hostnames: &n\n  - {dest: a,\n     ports: [1]}\n  - b\n"
		 "deny: *n\n",
		 "b\n", "deny", NULL},
	};
	struct str out;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct str text = str_of(cases[i].text);
		size_t at = (size_t)(strstr(text.p, cases[i].at) - text.p);
		bool ok = edit_remove(a, text, at, cases[i].key, &out);

		CHECK_MSG(cases[i].without ? ok && str_is(out, cases[i].without)
					   : !ok,
			  "%zu: %s", i, ok ? out.p : "refused");
	}
	CHECK(edit_add(a, STR("ignore: &i [a]\nreadonly: *i\n"), "readonly",
		       STR("b"), &out) &&
	      str_is(out, "ignore: &i [a]\nreadonly: [a, b]\n"));
	CHECK(edit_replace(a, STR("allow: [&x a]\ndeny: [*x]\n"), 11, "deny",
			   STR("b"), &out) &&
	      str_is(out, "allow: [&x a]\ndeny: [b]\n"));
	CHECK(edit_remove_nth(a, STR("extends: [a, b]\n"), "extends", 1,
			      &out) &&
	      str_is(out, "extends: [a]\n"));
	CHECK(!edit_remove_nth(a, STR("extends: [a, b]\n"), "extends", 2,
			       &out));
}

static void check_replace(void)
{
	struct str out = {0};

	CHECK(edit_replace(a, STR("deny:\n  - dest: a\n    ports: [1] # c\n"),
			   17, "deny", STR("x"), &out) &&
	      str_is(out, "deny:\n  - x # c\n"));
	CHECK(edit_replace(a, STR("deny: [a, \"b\"]\n"), 10, "deny", STR("x"),
			   &out) &&
	      str_is(out, "deny: [a, x]\n"));
}

static void check_extend(void)
{
	more("allow:\n  - {dest: b, ports: [1]}\n", "b,", "ports", "2",
	     "allow:\n  - {dest: b, ports: [1, 2]}\n");
	more("allow:\n  - dest: b\n    http:\n      - x: y\n  - c\n", "b\n",
	     "http", "{z: 1}",
	     "allow:\n  - dest: b\n    http:\n      - x: y\n      - {z: 1}\n"
	     "  - c\n");
	more("allow: [b]\n", "b", "ports", "2", NULL);
}

static void check_scalar(void)
{
	static const char *const as_is[] = {
		"a.test:443",	    "/a/b",	 ".env", "GET",
		"https://a.test/x", "10.0.0.0/8"};
	static const char *const quoted[] = {"*.test", "!x", "[::1]:1", "a b",
					     "null",   "",   "a: b",	"-e",
					     "x:",     "#a", "a\"b"};

	for (size_t i = 0; i < ARRAY_LEN(as_is); i++)
		CHECK(str_is(edit_scalar(a, str_of(as_is[i])), as_is[i]));
	for (size_t i = 0; i < ARRAY_LEN(quoted); i++)
		CHECK(edit_scalar(a, str_of(quoted[i])).p[0] == '"');
	CHECK(str_is(edit_scalar(a, STR("a\"\\\n")), "\"a\\\"\\\\\\x0A\""));
}

static void check_lines(void)
{
	CHECK(str_is(edit_add_line(a, STR("a"), STR("b")), "a\nb\n"));
	CHECK(str_is(edit_add_line(a, STR(""), STR("b")), "b\n"));
	CHECK(str_is(edit_remove_line(a, STR("a\nb\nc\n"), 2), "a\nc\n"));
	CHECK(str_is(edit_remove_line(a, STR("a\nb"), 2), "a\n"));
}

int main(void)
{
	a = arena_new();
	check_add();
	check_remove();
	check_replace();
	check_aliases();
	check_extend();
	check_scalar();
	check_lines();
	arena_free(a);
	return check_status();
}
