/*
 * compare.h and never.h, of files: which line is responsible, the path that
 * shows it, what is as it was, and what a set has that is permitted.
 */
#include "compiler/algebra/compare/never.h"
#include "compiler/algebra/compare/parts.h"

#include "tests/unit/algebra/compared.h"

#define USUAL                                                                  \
	"= read what nothing hides | read README.md\n"                         \
	"\tnew '-': granted -> granted\n"                                      \
	"= write what nothing protects | write README.md\n"                    \
	"\tnew '-': granted -> granted\n"

static const struct compared_case cases[] = {
	{"", "ignore *.pem\n",
	 "- read *.pem | read file.pem\n"
	 "\tnew 'ignore *.pem': granted -> ignored\n" USUAL},
	{"ignore *.pem\n", "",
	 "+ read *.pem | read file.pem\n"
	 "\told 'ignore *.pem': ignored -> granted\n" USUAL},
	{"ignore *.pem\n", "ignore *.pem\n", USUAL},
	{"ignore *.pem\n"
	 "ignore !ca.pem\n",
	 "ignore *.pem\n"
	 "ignore !ca.pem\n",
	 "= read ca.pem | read ca.pem\n"
	 "\tnew 'ignore !ca.pem': granted -> granted\n" USUAL},
	/* Taken back by another line, by one less, by one more. */
	{"ignore *.pem\n"
	 "ignore !ca.pem\n",
	 "ignore *.pem\n"
	 "ignore !c?.pem\n",
	 "+ read c?.pem | read cx.pem\n"
	 "\tnew 'ignore !c?.pem': ignored -> granted\n" USUAL
	 "= read c?.pem | read ca.pem\n"
	 "\tnew 'ignore !c?.pem', old 'ignore !ca.pem': granted -> granted\n"},
	{"ignore *.pem\n"
	 "ignore !ca.pem\n",
	 "ignore *.pem\n",
	 "- read ca.pem | read ca.pem\n"
	 "\told 'ignore !ca.pem': granted -> ignored\n" USUAL},
	{"ignore *.pem\n",
	 "ignore *.pem\n"
	 "ignore !ca.pem\n",
	 "+ read ca.pem | read ca.pem\n"
	 "\tnew 'ignore !ca.pem': ignored -> granted\n" USUAL},
	{"ignore !ca.pem\n"
	 "ignore *.pem\n",
	 "ignore *.pem\n"
	 "ignore !ca.pem\n",
	 "+ read ca.pem | read ca.pem\n"
	 "\tnew 'ignore !ca.pem': ignored -> granted\n" USUAL},
	{"ignore *.pem\n"
	 "ignore !ca.pem\n"
	 "ignore ca.pem\n",
	 "ignore *.pem\n"
	 "ignore ca.pem\n"
	 "ignore !ca.pem\n",
	 "+ read ca.pem | read ca.pem\n"
	 "\tnew 'ignore !ca.pem': ignored -> granted\n" USUAL},
	/* Read-only: what can be read as before. */
	{"readonly /vendor/\n",
	 "readonly /vendor/\n"
	 "readonly /lib/\n",
	 "- write /lib/ | write lib/file\n"
	 "\tnew 'readonly /lib/': granted -> readonly\n" USUAL},
	{"readonly /vendor/\n"
	 "readonly !/vendor/a\n",
	 "readonly /vendor/\n", USUAL},
	{"readonly *.c\n"
	 "readonly !a.c\n",
	 "readonly *.c\n"
	 "readonly !a.c\n",
	 "= read what nothing hides | read README.md\n"
	 "\tnew '-': granted -> granted\n"
	 "= write a.c | write a.c\n"
	 "\tnew 'readonly !a.c': granted -> granted\n"
	 "= write what nothing protects | write README.md\n"
	 "\tnew '-': granted -> granted\n"},
	{"readonly *.c\n"
	 "readonly !a.c\n",
	 "readonly *.c\n"
	 "readonly !b.c\n",
	 "- write a.c | write a.c\n"
	 "\told 'readonly !a.c': granted -> readonly\n"
	 "+ write b.c | write b.c\n"
	 "\tnew 'readonly !b.c': readonly -> granted\n" USUAL},
	/* What is hidden by both is no change of writing. */
	{"ignore a\n",
	 "ignore a\n"
	 "readonly a\n",
	 USUAL},
	{"ignore a\n"
	 "readonly a\n",
	 "readonly a\n",
	 "+ read a | read a\n"
	 "\told 'ignore a': ignored -> granted\n" USUAL},
	{"readonly a\n",
	 "ignore a\n"
	 "readonly a\n",
	 "- read a | read a\n"
	 "\tnew 'ignore a': granted -> ignored\n" USUAL},
	{"readonly a\n", "ignore a\n",
	 "- read a | read a\n"
	 "\tnew 'ignore a': granted -> ignored\n" USUAL},
	/* Folders, and what is below them. */
	{"ignore a/\n", "ignore a\n",
	 "- read a | read a\n"
	 "\tnew 'ignore a': granted -> ignored\n" USUAL},
	{"ignore a/\n", "ignore a/b\n",
	 "+ read a/ | read a/file\n"
	 "\told 'ignore a/': ignored -> granted\n" USUAL},
	{"ignore /a\n", "ignore a\n",
	 "- read a | read x/a\n"
	 "\tnew 'ignore a': granted -> ignored\n" USUAL},
	{"ignore a/b/\n"
	 "ignore !a/b/c\n",
	 "ignore a/b/\n", USUAL},
	{"ignore a/b/*\n"
	 "ignore !a/b/c\n",
	 "ignore a/b/*\n",
	 "- read a/b/c | read a/b/c\n"
	 "\told 'ignore !a/b/c': granted -> ignored\n" USUAL},
	/* Everything, so that nothing usual is left. */
	{"ignore *\n", "ignore *\n", ""},
	{"ignore *\n",
	 "ignore *\n"
	 "ignore !a\n",
	 "+ read a | read a\n"
	 "\tnew 'ignore !a': ignored -> granted\n"},
	{"ignore *\n", "readonly *\n",
	 "+ read * | read file\n"
	 "\told 'ignore *': ignored -> granted\n"},
	{"ignore README.md\n"
	 "ignore main.c\n",
	 "ignore README.md\n"
	 "ignore main.c\n",
	 "= read what nothing hides | read Makefile\n"
	 "\tnew '-': granted -> granted\n"
	 "= write what nothing protects | write Makefile\n"
	 "\tnew '-': granted -> granted\n"},
	{"ignore README.md\n",
	 "ignore README.md\n"
	 "readonly Makefile\n",
	 "- write Makefile | write Makefile\n"
	 "\tnew 'readonly Makefile': granted -> readonly\n"
	 "= read what nothing hides | read src/main.c\n"
	 "\tnew '-': granted -> granted\n"
	 "= write what nothing protects | write src/main.c\n"
	 "\tnew '-': granted -> granted\n"},
	/* A line twice, and the same lines in another order. */
	{"ignore a\n"
	 "ignore a\n",
	 "ignore a\n", USUAL},
	{"ignore a\n"
	 "ignore b\n",
	 "ignore b\n"
	 "ignore a\n",
	 USUAL},
	{"ignore a\n"
	 "ignore !a\n",
	 "ignore !a\n"
	 "ignore a\n",
	 "- read a | read a\n"
	 "\told 'ignore !a': granted -> ignored\n" USUAL},
	{"ignore a*\n"
	 "ignore !ab\n"
	 "ignore b\n",
	 "ignore b\n"
	 "ignore a*\n"
	 "ignore !ab\n",
	 USUAL "= read ab | read ab\n"
	       "\tnew 'ignore !ab': granted -> granted\n"},
	{"readonly a*\n"
	 "readonly !ab\n",
	 "readonly !ab\n"
	 "readonly a*\n",
	 "- write ab | write ab\n"
	 "\told 'readonly !ab': granted -> readonly\n" USUAL},
	{"ignore a\n"
	 "readonly b\n",
	 "ignore b\n"
	 "readonly a\n",
	 "+ read a | read a\n"
	 "\told 'ignore a': ignored -> granted\n"
	 "- read b | read b\n"
	 "\tnew 'ignore b': granted -> ignored\n" USUAL},
	/* The last of several of one line counts, however often it is there. */
	{"ignore a\n"
	 "ignore !a\n"
	 "ignore a\n",
	 "ignore a\n"
	 "ignore !a\n",
	 "+ read a | read a\n"
	 "\tnew 'ignore !a': ignored -> granted\n" USUAL},
	{"ignore a\n"
	 "ignore !a\n",
	 "ignore a\n"
	 "ignore !a\n"
	 "ignore a\n",
	 "- read a | read a\n"
	 "\told 'ignore !a': granted -> ignored\n" USUAL},
	{"ignore a\n"
	 "ignore !a\n",
	 "ignore a\n"
	 "ignore !a\n",
	 "= read a | read a\n"
	 "\tnew 'ignore !a': granted -> granted\n" USUAL},
	/* What cannot be read any more is no change of writing. */
	{"",
	 "ignore a\n"
	 "readonly a\n",
	 "- read a | read a\n"
	 "\tnew 'ignore a': granted -> ignored\n" USUAL},
	{"ignore a\n"
	 "readonly a\n",
	 "",
	 "+ read a | read a\n"
	 "\told 'ignore a': ignored -> granted\n" USUAL},
	{"", "readonly *\n",
	 "- write * | write file\n"
	 "\tnew 'readonly *': granted -> readonly\n"
	 "= read what nothing hides | read README.md\n"
	 "\tnew '-': granted -> granted\n"},
	{"readonly *\n", "",
	 "+ write * | write file\n"
	 "\told 'readonly *': readonly -> granted\n"
	 "= read what nothing hides | read README.md\n"
	 "\tnew '-': granted -> granted\n"},
	{"readonly *\n"
	 "readonly !a\n",
	 "readonly *\n"
	 "readonly !a\n",
	 "= read what nothing hides | read README.md\n"
	 "\tnew '-': granted -> granted\n"
	 "= write a | write a\n"
	 "\tnew 'readonly !a': granted -> granted\n"},
	/* What people would think of first is no path, or none of the
	   pattern's. */
	{"", "ignore  x\n",
	 "- read  x | read  x\n"
	 "\tnew 'ignore  x': granted -> ignored\n" USUAL},
	{"", "ignore [ab]\n",
	 "- read [ab] | read a\n"
	 "\tnew 'ignore [ab]': granted -> ignored\n" USUAL},
	{"", "ignore \\!x\n",
	 "- read \\!x | read !x\n"
	 "\tnew 'ignore \\!x': granted -> ignored\n" USUAL},
	{"",
	 "ignore id_*\n"
	 "ignore .*\n"
	 "ignore ?\n",
	 "- read id_* | read id_rsa\n"
	 "\tnew 'ignore id_*': granted -> ignored\n"
	 "- read .* | read .local\n"
	 "\tnew 'ignore .*': granted -> ignored\n"
	 "- read ? | read x\n"
	 "\tnew 'ignore ?': granted -> ignored\n" USUAL},
	{"", "ignore **/x/y\n",
	 "- read **/x/y | read x/y\n"
	 "\tnew 'ignore **/x/y': granted -> ignored\n" USUAL},
	{"", "readonly a/**\n",
	 "- write a/** | write a/file\n"
	 "\tnew 'readonly a/**': granted -> readonly\n" USUAL},
	{"", "readonly /a/*/b\n",
	 "- write /a/*/b | write a/file/b\n"
	 "\tnew 'readonly /a/*/b': granted -> readonly\n" USUAL},
	{"ignore a/*\n"
	 "ignore !a/b/\n",
	 "ignore a/*\n",
	 "- read a/b/ | read a/b/file\n"
	 "\told 'ignore !a/b/': granted -> ignored\n" USUAL},
	{"ignore a\n"
	 "ignore *.pem\n"
	 "ignore !c*.pem\n",
	 "ignore *.pem\n"
	 "ignore !c*.pem\n"
	 "ignore a\n",
	 USUAL "= read c*.pem | read cfile.pem\n"
	       "\tnew 'ignore !c*.pem': granted -> granted\n"},
	/* Lines that stand there twice, or hide nothing; and examples that do
	   not show what a line does. */
	{"readonly **/x\n", "",
	 "+ write **/x | write x\n"
	 "\told 'readonly **/x': readonly -> granted\n" USUAL},
	{"ignore ?\n",
	 "ignore ?\n"
	 "ignore ?\n"
	 "ignore *.pem\n",
	 "- read *.pem | read file.pem\n"
	 "\tnew 'ignore *.pem': granted -> ignored\n" USUAL},
	{"readonly !a/b\n"
	 "ignore !secrets/a\n",
	 "ignore a\n"
	 "readonly !a/b\n"
	 "readonly !a/b\n",
	 "- read a | read a\n"
	 "\tnew 'ignore a': granted -> ignored\n" USUAL},
	{"ignore !a/b\n", "",
	 "= read what nothing hides | read README.md\n"
	 "\tnew '-': granted -> granted\n"
	 "= write what nothing protects | write README.md\n"
	 "\tnew '-': granted -> granted\n"},
	{"", "ignore !c?.pem\n",
	 USUAL "= read c?.pem | read cx.pem\n"
	       "\tnew 'ignore !c?.pem': granted -> granted\n"},
	{"readonly a/b/c\n"
	 "readonly a/**\n",
	 "readonly a/b/c\n"
	 "readonly a/b/c\n",
	 "+ write a/** | write a/file\n"
	 "\told 'readonly a/**': readonly -> granted\n" USUAL},
	{"readonly ?\n", "ignore !*\n",
	 "+ write ? | write x\n"
	 "\told 'readonly ?': readonly -> granted\n" USUAL
	 "= read * | read file\n"
	 "\tnew 'ignore !*': granted -> granted\n"},
	{"ignore !a/b\n"
	 "ignore !a/b\n",
	 "ignore !a/b\n"
	 "ignore !a/b\n",
	 "= read a/b | read a/b\n"
	 "\tnew 'ignore !a/b': granted -> granted\n"
	 "= read a/b | read a/b\n"
	 "\tnew 'ignore !a/b': granted -> granted\n" USUAL},
	{"readonly !*\n", "",
	 "- write * | write .husky/\n"
	 "\told 'readonly !*': granted -> readonly\n" USUAL},
	{"ignore !a/b\n",
	 "ignore !a/b\n"
	 "ignore a/**\n",
	 "- read a/** | read a/file\n"
	 "\tnew 'ignore a/**': granted -> ignored\n" USUAL},
	{"",
	 "ignore a\n"
	 "ignore !a/b\n",
	 "- read a | read a\n"
	 "\tnew 'ignore a': granted -> ignored\n" USUAL},
	{"ignore !a/b\n"
	 "readonly /a\n"
	 "ignore !a/b\n",
	 "ignore !a/b\n"
	 "ignore !a/b\n",
	 "+ write /a | write a\n"
	 "\told 'readonly /a': readonly -> granted\n"
	 "= read a/b | read a/b\n"
	 "\tnew 'ignore !a/b': granted -> granted\n"
	 "= read a/b | read a/b\n"
	 "\tnew 'ignore !a/b': granted -> granted\n" USUAL},
	/* What takes something back in both, behind a line that one alone has.
	 */
	{"ignore *.pem\n"
	 "ignore !ca.pem\n",
	 "ignore x\n"
	 "ignore *.pem\n"
	 "ignore !ca.pem\n",
	 "- read x | read x\n"
	 "\tnew 'ignore x': granted -> ignored\n"
	 "= read ca.pem | read ca.pem\n"
	 "\tnew 'ignore !ca.pem': granted -> granted\n" USUAL},
	/* Where all that people know is read-only, or hidden, but not all that
	   there is. */
	{"readonly README.md\n"
	 "readonly main.c\n"
	 "readonly Makefile\n"
	 "readonly index.md\n",
	 "readonly README.md\n"
	 "readonly main.c\n"
	 "readonly Makefile\n"
	 "readonly index.md\n",
	 "= read what nothing hides | read README.md\n"
	 "\tnew '-': granted -> granted\n"
	 "= write what nothing protects | write x\n"
	 "\tnew '-': granted -> granted\n"},
	{"ignore README.md\n"
	 "ignore main.c\n"
	 "ignore Makefile\n"
	 "ignore index.md\n",
	 "ignore README.md\n"
	 "ignore main.c\n"
	 "ignore Makefile\n"
	 "ignore index.md\n",
	 "= read what nothing hides | read x\n"
	 "\tnew '-': granted -> granted\n"
	 "= write what nothing protects | write x\n"
	 "\tnew '-': granted -> granted\n"},
	/* Folders are taken back by a line of which there is no example. */
	{"ignore *\n"
	 "ignore !**/\n",
	 "ignore *\n"
	 "ignore !**/\n",
	 "= read **/ | read x/\n"
	 "\tnew 'ignore !**/': granted -> granted\n"
	 "= write what nothing protects | write x/\n"
	 "\tnew '-': granted -> granted\n"},
	/* What a folder holds is no change below it. */
	{"readonly a/b\n", "readonly a\n",
	 "- write a | write a\n"
	 "\tnew 'readonly a': granted -> readonly\n" USUAL},
	{"readonly a\n", "readonly a/b\n",
	 "+ write a | write a\n"
	 "\told 'readonly a': readonly -> granted\n" USUAL},
	/* Lines of which there is no example. */
	{"", "ignore ..\n", USUAL},
	{"ignore a\n", "ignore a\nignore !..\n", USUAL},
	{"ignore a\nignore !..\n", "ignore a\nignore !..\n", USUAL},
};

/* The same changes, whether what is kept is wanted or not. */
static void check_changes(void)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct compared x = {.c = {.with_kept = true}};
		struct comparison alone = {0};
		struct arena *a;
		struct str got;

		compared_read(&x, cases[i].old, cases[i].now);
		a = x.side[1].a;
		files_compare(a, &x.side[0].policy, &x.side[1].policy, &x.c);
		got = compared_said(&x);
		CHECK_MSG(str_is(got, cases[i].said), "%zu:\n%.*swanted:\n%s",
			  i, STR_ARG(got), cases[i].said);
		x.c.kept.n = 0;
		got = compared_said(&x);
		files_compare(a, &x.side[0].policy, &x.side[1].policy, &alone);
		x.c = alone;
		CHECK_MSG(str_eq(got, compared_said(&x)),
			  "%zu:\n%.*swanted:\n%.*s", i,
			  STR_ARG(compared_said(&x)), STR_ARG(got));
		compared_done(&x);
	}
}

/* --- examples ------------------------------------------------------------- */

/* A path that a line makes one think of, and one below that; empty: none. */
static const struct {
	const char *line, *at, *below;
} examples[] = {
	{"a", "a", "a/file"},
	{"/a/b", "a/b", "a/b/file"},
	{"a/", "a/file", "a/file"},
	{"!a", "a", "a/file"},
	{"!/a", "a", "a/file"},
	{"**/a", "a", "a/file"},
	{"**/**/a", "a", "a/file"},
	{"/**/a", "a", "a/file"},
	{"*", "file", "file/file"},
	{"**", "file", "file/file"},
	{"a/**", "a/file", "a/file/file"},
	{"a/**/b", "a/file/b", "a/file/b/file"},
	{"*.pem", "file.pem", "file.pem/file"},
	{"id_*", "id_rsa", "id_rsa/file"},
	{".env.*", ".env.local", ".env.local/file"},
	{"a?c", "axc", "axc/file"},
	{"\\*", "*", "*/file"},
	{"a\\", "a\\", "a\\/file"},
	{"[ab]", "[ab]", "[ab]/file"},
	/* What is none, or what a request cannot say. */
	{"", "", ""},
	{"/", "", ""},
	{"!", "", ""},
	{"//a", "", ""},
	{" a", "", ""},
	{"a//b", "", ""},
	{".", "", ""},
	{"./a", "", ""},
	{"a/..", "", ""},
	{"a/../b", "", ""},
	{"..a", "..a", "..a/file"},
};

static void check_examples(void)
{
	struct arena *a = arena_new();

	for (size_t i = 0; i < ARRAY_LEN(examples); i++) {
		struct str line = str_of(examples[i].line);
		struct str at = example_path(a, line, false);
		struct str below = example_path(a, line, true);

		CHECK_MSG(str_is(at, examples[i].at), "%s: %.*s",
			  examples[i].line, STR_ARG(at));
		CHECK_MSG(str_is(below, examples[i].below), "%s: %.*s",
			  examples[i].line, STR_ARG(below));
	}
	arena_free(a);
}

/* --- never ---------------------------------------------------------------- */

static const struct {
	const char *policy;
	enum ir_never_kind kind;
	const char *pattern, *witness;
} sets[] = {
	{"", IR_NEVER_READ, "*.pem", "read file.pem"},
	{"", IR_NEVER_WRITE, "*.pem", "write file.pem"},
	{"ignore *.pem\n", IR_NEVER_READ, "*.pem", ""},
	{"ignore *.pem\n", IR_NEVER_WRITE, "*.pem", ""},
	{"readonly *.pem\n", IR_NEVER_WRITE, "*.pem", ""},
	{"readonly *.pem\n", IR_NEVER_READ, "*.pem", "read file.pem"},
	/* What is left of the set, where its own path is not. */
	{"ignore *.pem\nignore !ca.pem\n", IR_NEVER_READ, "*.pem",
	 "read ca.pem"},
	{"ignore file.pem\n", IR_NEVER_READ, "*.pem", "read .pem"},
	{"readonly file.pem\n", IR_NEVER_WRITE, "*.pem", "write .pem"},
	{"ignore /a.pem\n", IR_NEVER_READ, "a.pem", "read x/a.pem"},
	/* Folders, and what is in them. */
	{"", IR_NEVER_READ, "a/", "read a/file"},
	{"", IR_NEVER_READ, "/a/b", "read a/b"},
	{"ignore a/*\n", IR_NEVER_READ, "a/", "read a/"},
	{"ignore a/\n", IR_NEVER_READ, "a/", ""},
	{"ignore a/\n", IR_NEVER_READ, "a/b", ""},
	{"ignore a/\n", IR_NEVER_READ, "a", "read a"},
	{"ignore a\nignore !a\n", IR_NEVER_READ, "a", "read a"},
	{"ignore *\nignore !/a\n", IR_NEVER_READ, "b", ""},
	{"readonly a\nreadonly !a\n", IR_NEVER_WRITE, "a", "write a"},
	{"ignore x\nreadonly a/\n", IR_NEVER_WRITE, "a/b", ""},
	{"ignore *\n", IR_NEVER_READ, "*", ""},
	/* Sets of which there is no example. */
	{"", IR_NEVER_READ, "**/", "read x/"},
	{"", IR_NEVER_WRITE, " x", "write  x"},
};

static void check_never(void)
{
	for (size_t i = 0; i < ARRAY_LEN(sets); i++) {
		struct ir_never set = {.kind = sets[i].kind,
				       .pattern = str_of(sets[i].pattern)};
		struct ir_request r = {.text = STR("")};
		struct test_policy t;
		struct decision d = {0};
		bool found;

		CHECK(test_policy_make(&t, sets[i].policy));
		found = never_find(t.a, &t.policy, &set, &r, &d);
		CHECK_MSG(found == (sets[i].witness[0] != '\0') &&
				  str_is(r.text, sets[i].witness),
			  "%zu: '%.*s', not '%s'", i, STR_ARG(r.text),
			  sets[i].witness);
		CHECK(!found || (d.verdict == VERDICT_ALLOW &&
				 d.reason == REASON_GRANTED));
		test_policy_done(&t);
	}
}

int main(void)
{
	check_changes();
	check_examples();
	check_never();
	return check_status();
}
