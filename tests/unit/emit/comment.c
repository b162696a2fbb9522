/* Comments in artefacts: nothing of a policy or a file name gets out of one. */
#include "compiler/emit/comment.h"

#include "compiler/emit/places.h"

#include "tests/check.h"

#include <string.h>

static struct str grant_comment(struct arena *a, struct str canon,
				struct str source, const char *indent)
{
	struct sources s;
	struct emit_in in = {.sources = &s, .a = a};
	struct ir_grant g = {
		.key = IR_KEY_ALLOW, .canon = canon, .id = STR("g-0123456789")};
	struct buf out;

	sources_init(&s, a);
	sources_add(&s, source, STR("\n\nallow"), LAYER_WORKSPACE);
	g.from = (struct ir_origin){
		{s.list.v[0].base + 2, s.list.v[0].base + 3}, LAYER_WORKSPACE};
	buf_init(&out, a);
	comment_grant(&in, &out, indent, &g);
	return buf_str(&out);
}

/* Each line is a comment of its own, printable, and not too long. */
static void check_safe(struct str text, const char *indent)
{
	struct str line;
	size_t n = strlen(indent);

	CHECK(text.n && text.p[text.n - 1] == '\n');
	while (str_line(&text, &line)) {
		CHECK(str_starts(line, str_of(indent)) && line.p[n] == '#');
		CHECK(line.n <= n + COMMENT_COLUMNS);
		CHECK(line.p[line.n - 1] != '\\');
		for (size_t i = n; i < line.n; i++)
			CHECK(line.p[i] >= ' ' && line.p[i] <= '~');
	}
}

static void plain(struct arena *a)
{
	CHECK(str_is(
		grant_comment(a, STR("a.test tcp/443"), STR("p.yaml"), "    "),
		"    # allow a.test tcp/443  g-0123456789  p.yaml:3\n"));
}

static void hostile(struct arena *a)
{
	static const struct str words[] = {
		STR("x\n}\nchain evil { accept }"),
		STR("x\r\n    acl granted always_true"),
		STR("back\\"),
		STR("\x1b[2J\x7f\0nul\xc3\xa9\x85\xe2\x80\xa8"),
		STR("#"),
		STR(" "),
		STR("   two  blanks   "),
	};

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		check_safe(grant_comment(a, words[i], STR("p.yaml"), "\t"),
			   "\t");
		check_safe(grant_comment(a, STR("a.test"), words[i], "    "),
			   "    ");
	}
	CHECK(str_is(grant_comment(a, STR("a.test"), STR("x\\\ny"), ""),
		     "# allow a.test  g-0123456789  x\\x5C\\x0Ay:3\n"));
}

/* No length of a word, and no place in a line, is too much. */
static void lengths(struct arena *a)
{
	struct buf b;

	buf_init(&b, a);
	for (unsigned i = 0; i < 400; i++) {
		struct str word = buf_keep(&b);

		check_safe(grant_comment(a, word, STR("p"), "\t\t"), "\t\t");
		check_safe(grant_comment(a, STR("a b c"), word, ""), "");
		buf_addc(&b, i % 7 ? 'x' : '\\');
	}
}

static struct str xs(struct arena *a, size_t n)
{
	char *p = arena_alloc(a, n + 1);

	memset(p, 'x', n);
	p[n] = '\0';
	return (struct str){p, n};
}

static void check_wrapped(struct arena *a, size_t n, const char *indent,
			  const char *before, size_t first, const char *behind)
{
	struct str word = xs(a, n);
	struct str got = grant_comment(a, word, STR("p"), indent);
	struct str want = arena_fmt(a, "%s%.*s%s%.*s%s", before,
				    STR_ARG(str_slice(word, 0, first)),
				    first < n ? "\n#    " : "",
				    STR_ARG(str_slice(word, first, n)), behind);

	CHECK_MSG(str_eq(got, want), "%zu: %.*s", n, STR_ARG(got));
}

#define APART "\n#      g-0123456789  p:3\n"

/* 120 columns are filled, and a tab has eight; a word goes on in the next line
 * where one line cannot hold it. */
static void columns(struct arena *a)
{
	check_wrapped(a, 93, "", "# allow ", 93, "  g-0123456789  p:3\n");
	check_wrapped(a, 94, "", "# allow ", 94,
		      "  g-0123456789\n#      p:3\n");
	check_wrapped(a, 98, "", "# allow ", 98,
		      "  g-0123456789\n#      p:3\n");
	check_wrapped(a, 99, "", "# allow ", 99, APART);
	check_wrapped(a, 112, "", "# allow ", 112, APART);
	check_wrapped(a, 113, "", "# allow\n#     ", 113, APART);
	check_wrapped(a, 114, "", "# allow\n#     ", 114, APART);
	check_wrapped(a, 115, "", "# allow\n#     ", 114,
		      "  g-0123456789  p:3\n");
	check_wrapped(a, 104, "\t", "\t# allow ", 104,
		      "\n\t#      g-0123456789  p:3\n");
	check_wrapped(a, 105, "\t", "\t# allow\n\t#     ", 105,
		      "\n\t#      g-0123456789  p:3\n");
	check_wrapped(a, 108, "    ", "    # allow ", 108,
		      "\n    #      g-0123456789  p:3\n");
	check_wrapped(a, 109, "    ", "    # allow\n    #     ", 109,
		      "\n    #      g-0123456789  p:3\n");
}

static void many(struct arena *a)
{
	struct sources s;
	struct emit_in in = {.sources = &s, .a = a};
	struct ir_grant g = {.key = IR_KEY_DENY,
			     .canon = STR("a.test"),
			     .id = STR("d-0123456789")};
	emit_members of = {0};
	struct buf out;
	struct str text, line;
	unsigned n = 0;

	sources_init(&s, a);
	for (unsigned i = 0; i < 1000; i++)
		*vec_push(a, &of) = &g;
	buf_init(&out, a);
	of.n = 8;
	comment_grants(&in, &out, "\t", &of);
	CHECK(!memmem(out.p, out.n, "more", 4));
	of.n = 1000;
	buf_init(&out, a);
	comment_grants(&in, &out, "\t", &of);
	text = buf_str(&out);
	check_safe(text, "\t");
	while (str_line(&text, &line))
		n++;
	CHECK(n == 9);
	CHECK(str_starts(line, STR("\t# and 992 more")));
}

/* A provenance.json is a file of a plan that somebody else may have written. */
static void places(struct arena *a)
{
	static const char *const odd[] = {
		"",
		"null",
		"[1]",
		"{\"rules\": [{\"source\": \"x\", \"line\": 1}]}",
		"{\"rules\": {\"g-1\": {\"source\": \"x\", \"line\": -1}}}",
		"{\"rules\": {\"g-1\": {\"source\": \"x\", \"line\": 1e300}}}",
		"{\"rules\": {\"g-1\": {\"source\": 7, \"line\": 1}}}",
		"{\"rules\": {\"g-1\": 3}}",
	};
	struct str source = STR("mine");
	uint32_t line = 9;

	for (size_t i = 0; i < ARRAY_LEN(odd); i++)
		places_find(places_read(a, str_of(odd[i])), STR("g-1"), &source,
			    &line);
	CHECK(str_is(source, "mine") && line == 9);
	places_find(places_read(a, STR("{\"rules\": {\"g-2\": {}, \"g-1\": "
				       "{\"source\": \"p\", \"line\": 4}}}")),
		    STR("g-1"), &source, &line);
	CHECK(str_is(source, "p") && line == 4);
}

/* Whose place is in there stands where that says, and others where they are. */
static void placed(struct arena *a)
{
	struct sources s;
	struct emit_in in = {.sources = &s, .a = a};
	struct ir_grant g = {.key = IR_KEY_DENY, .canon = STR("a.test")};
	struct buf out;

	sources_init(&s, a);
	in.places = places_read(a, STR("{\"rules\": {\"d-1\": "
				       "{\"source\": \"p\", \"line\": 4}}}"));
	buf_init(&out, a);
	g.id = STR("d-1");
	comment_grant(&in, &out, "", &g);
	g.id = STR("d-2");
	comment_grant(&in, &out, "", &g);
	CHECK_MSG(str_is(buf_str(&out), "# deny a.test  d-1  p:4\n"
					"# deny a.test  d-2  builtin\n"),
		  "%s", out.p);
}

int main(void)
{
	struct arena *a = arena_new();

	plain(a);
	hostile(a);
	lengths(a);
	columns(a);
	many(a);
	places(a);
	placed(a);
	arena_free(a);
	return check_status();
}
