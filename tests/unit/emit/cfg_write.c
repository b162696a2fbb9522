/*
 * The writer of HAProxy's configuration: what each function writes of a string,
 * what it refuses, and how long its lines are.
 */
#include "compiler/emit/gate/cfg_write.h"

#include "tests/check.h"

#include <string.h>

static struct arena *a;
static struct sources sources;
static struct diags diags;
static struct buf out;

static struct cfg fresh(void)
{
	sources_init(&sources, a);
	diags_init(&diags, a, &sources);
	buf_init(&out, a);
	return (struct cfg){a, &diags, &out, true, NULL};
}

typedef void writer(struct cfg *, struct str, struct span);

static void check_written(writer *write, struct str text, const char *want)
{
	struct cfg c = fresh();

	write(&c, text, (struct span){0});
	CHECK_MSG(c.ok && diags.errors == 0 && str_is(buf_str(&out), want),
		  "%.*s: %.*s", STR_ARG(text), STR_ARG(buf_str(&out)));
}

/* One error, and nothing of it is written. */
static void check_refused(writer *write, struct str text)
{
	struct cfg c = fresh();
	struct diag_view view;

	write(&c, text, (struct span){7, 9});
	CHECK_MSG(!c.ok && out.n == 0, "%.*s", STR_ARG(text));
	CHECK(diags.errors == 1 && diags_get(&diags, 0, &view) &&
	      view.id == DIAG_QUOTE && view.at.beg == 7 && view.at.end == 9 &&
	      view.help.n);
}

static void words(void)
{
	check_written(cfg_word, STR("a"), " 'a'");
	check_written(cfg_word, STR("!~"), " '!~'");
	check_written(cfg_word, STR("'"), " ''\\'''");
	check_written(cfg_word, STR("it's"), " 'it'\\''s'");
	check_written(cfg_word, STR("\\%\"#"), " '\\%\"#'");
	check_refused(cfg_word, STR(""));
	check_refused(cfg_word, STR(" a"));
	check_refused(cfg_word, STR("a b"));
	check_refused(cfg_word, STR("a\n"));
	check_refused(cfg_word, STR("a\0b"));
	check_refused(cfg_word, STR("\x7f"));
	check_refused(cfg_word, STR("\x80"));
	check_refused(cfg_word, STR("\xff"));
}

static void formats(void)
{
	check_written(cfg_format, STR(""), "");
	check_written(cfg_format, STR(" a b "), " a b ");
	check_written(cfg_format, STR("100% it's %[x]"),
		      "100%% it'\\''s %%[x]");
	check_refused(cfg_format, STR("a\tb"));
	check_refused(cfg_format, STR("\x1f"));
	check_refused(cfg_format, STR("a\x7f"));
	check_refused(cfg_format, STR("\xc3\xa9"));
}

static void names(void)
{
	check_written(cfg_name_regex, STR("a-b_1.test"), " '^a-b_1[.]test\\z'");
	check_written(cfg_name_regex, STR("x.*.test"),
		      " '^x[.][^.]+[.]test\\z'");
	check_written(cfg_name_regex, STR("*.*"), " '^[^.]+[.][^.]+\\z'");
	check_written(cfg_name_regex, STR("**.x.*.test"),
		      " '^[^.]+([.][^.]+)*[.]x[.][^.]+[.]test\\z'");
	check_written(cfg_name_regex, STR("**"), " '^[^.]+([.][^.]+)*\\z'");
	check_refused(cfg_name_regex, STR(""));
	check_refused(cfg_name_regex, STR("A.test"));
	check_refused(cfg_name_regex, STR("a test"));
	check_refused(cfg_name_regex, STR("a'.test"));
	for (unsigned ch = 0; ch < 256; ch++) {
		static const char letters[] =
			"abcdefghijklmnopqrstuvwxyz0123456789-_.*";
		bool is_letter = ch && strchr(letters, (int)ch);
		char byte = (char)ch;

		CHECK_MSG(cfg_name_ok((struct str){&byte, 1}) == is_letter,
			  "%u", ch);
	}
	CHECK(cfg_name_ok(STR("az09-_.*")) && !cfg_name_ok(STR("")) &&
	      !cfg_name_ok(STR("a/b")));
}

/* A byte and its escape are one; where only the escape can be sent, it alone.
 */
static void paths(void)
{
	check_written(cfg_path_regex, STR(""), " '^(/|\\z)'");
	check_written(cfg_path_regex, STR("/a-Z_9~"), " '^/a-Z_9~(/|\\z)'");
	check_written(cfg_path_regex, STR("/a.b"), " '^/a[.]b(/|\\z)'");
	check_written(cfg_path_regex, STR("/("), " '^/(\\x28|%28)(/|\\z)'");
	check_written(cfg_path_regex, STR("/%28"), " '^/(\\x28|%28)(/|\\z)'");
	check_written(cfg_path_regex, STR("/%28x"), " '^/(\\x28|%28)x(/|\\z)'");
	check_written(cfg_path_regex, STR("!'"),
		      " '^(\\x21|%21)(\\x27|%27)(/|\\z)'");
	check_written(cfg_path_regex, STR("/%7F%7C|"),
		      " '^/(\\x7f|%7F)(\\x7c|%7C)(\\x7c|%7C)(/|\\z)'");
	check_written(cfg_path_regex, STR("/%C3%A9%80"),
		      " '^/%C3%A9%80(/|\\z)'");
	check_written(cfg_path_regex, STR("/%20%00%1F"),
		      " '^/%20%00%1F(/|\\z)'");
	/* what is no escape is a percent sign */
	check_written(cfg_path_regex, STR("/%"), " '^/(\\x25|%25)(/|\\z)'");
	check_written(cfg_path_regex, STR("/%2"), " '^/(\\x25|%25)2(/|\\z)'");
	check_refused(cfg_path_regex, STR("/a b"));
	check_refused(cfg_path_regex, STR("/\n"));
	check_refused(cfg_path_regex, STR("/\xc3\xa9"));
}

/* What comes behind does not make good what was refused. */
static void refusals_stay(void)
{
	struct cfg c = fresh();

	cfg_word(&c, STR("a\n"), (struct span){0});
	cfg_word(&c, STR("b"), (struct span){0});
	cfg_line(&c, "x");
	CHECK(!c.ok && str_is(buf_str(&out), " 'b'    x\n"));
}

static void lines(void)
{
	static char most[4096];
	struct cfg c = fresh();

	cfg_line(&c, "a %s %u", "b", 7u);
	CHECK(c.ok && str_is(buf_str(&out), "    a b 7\n"));
	memset(most, 'x', sizeof(most) - 1);
	c = fresh();
	cfg_line(&c, "%s", most);
	CHECK(c.ok && out.n == 4 + 4095 + 1);
	c = fresh();
	cfg_line(&c, "%sx", most);
	CHECK(!c.ok);
}

/* Servers are where the client called, or all of them behind one place. */
static void origins(void)
{
	static const char text[] = "server origin 0.0.0.0 a\n"
				   "server other 0.0.0.0\n"
				   "server origin 0.0.0.0\nend";
	struct cfg c = fresh();

	cfg_text(&c, text);
	CHECK(str_is(buf_str(&out), text));
	c = fresh();
	c.origin = "unix@/x";
	cfg_text(&c, text);
	CHECK(str_is(buf_str(&out), "server origin unix@/x a\n"
				    "server other 0.0.0.0\n"
				    "server origin unix@/x\nend"));
	c = fresh();
	c.origin = "unix@/x";
	cfg_text(&c, "none");
	CHECK(str_is(buf_str(&out), "none"));
}

/* --- lists ---------------------------------------------------------------- */

static struct str word_of(size_t letters)
{
	struct buf b;

	buf_init(&b, a);
	buf_addc(&b, ' ');
	for (size_t i = 0; i < letters; i++)
		buf_addc(&b, 'w');
	return buf_str(&b);
}

static void put_line(struct buf *b, uint32_t n, struct str word)
{
	buf_adds(b, "    head");
	for (uint32_t i = 0; i < n; i++)
		buf_add(b, word);
	buf_addc(b, '\n');
}

/* So many words of so many letters: first in one line, the others in a second.
 */
static void check_list(uint32_t n, size_t letters, uint32_t first)
{
	struct str word = word_of(letters);
	struct cfg c = fresh();
	struct cfg_list l = cfg_list_begin(&c, STR("head"));
	struct buf want;

	buf_init(&want, a);
	put_line(&want, first, word);
	if (n > first)
		put_line(&want, n - first, word);
	for (uint32_t i = 0; i < n; i++) {
		buf_add(&out, word);
		cfg_list_word(&l);
	}
	cfg_list_end(&l);
	CHECK_MSG(str_eq(buf_str(&out), buf_str(&want)), "%u of %zu:\n%s", n,
		  letters, out.p);
}

static void lists(void)
{
	check_list(0, 1, 0);
	check_list(1, 1, 1);
	/* no more than HAProxy takes, with the words of the head */
	check_list(48, 1, 48);
	check_list(49, 1, 48);
	check_list(96, 1, 48);
	/* 8 columns are the head's, and 160 are not too many */
	check_list(2, 75, 2);
	check_list(2, 76, 1);
	check_list(8, 18, 8);
	check_list(9, 18, 8);
	/* one that is too long stands alone, and not behind an empty head */
	check_list(1, 300, 1);
	check_list(2, 300, 1);
}

static void ports(void)
{
	struct cfg c = fresh();
	ir_ports list = {0};

	*vec_push(a, &list) = (struct ir_port){IR_PROTO_TCP, 443, 443, {0}};
	*vec_push(a, &list) = (struct ir_port){IR_PROTO_TCP, 8000, 8999, {0}};
	*vec_push(a, &list) = (struct ir_port){IR_PROTO_TCP, 65535, 65535, {0}};
	cfg_ports(&c, STR("acl p dst_port"), &list);
	CHECK(str_is(buf_str(&out),
		     "    acl p dst_port 443 8000:8999 65535\n"));
}

int main(void)
{
	a = arena_new();
	words();
	formats();
	names();
	paths();
	refusals_stay();
	lines();
	origins();
	lists();
	ports();
	arena_free(a);
	return check_status();
}
