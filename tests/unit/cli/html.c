/* A page is what its writer built, whatever its strings hold. */
#include "compiler/cli/page/html.h"
#include "compiler/cli/page/page.h"

#include "compiler/base/sha256.h"
#include "tests/check.h"
#include "tests/rng.h"

#include <string.h>

/* One element with the string as attribute and as text. */
static struct str written(struct arena *a, struct str s)
{
	struct buf out;
	struct html h;

	buf_init(&out, a);
	html_init(&h, &out);
	html_open(&h, HTML_SPAN, NULL);
	html_attr(&h, HTML_ATTR_TITLE, s);
	html_text(&h, s);
	html_close(&h);
	return buf_str(&out);
}

static const struct {
	struct str s;
	const char *as;
} strings[] = {
	{STR_INIT(""), ""},
	{STR_INIT("--"), "--"},
	{STR_INIT("</script><img src=x onerror=alert(1)>"),
	 "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;"},
	{STR_INIT("\" onmouseover=\"x"), "&quot; onmouseover=&quot;x"},
	{STR_INIT("' `a` &amp; ]]> <!--"),
	 "&#39; &#96;a&#96; &amp;amp; ]]&gt; &lt;!--"},
	{STR_INIT("</title></style>"), "&lt;/title&gt;&lt;/style&gt;"},
	{STR_INIT("\0\x1b[2J\r\n\t\x7f"), "\\x00\\x1b[2J\\x0d\\x0a\\x09\\x7f"},
	/* bidirectional: an override, an isolate; a zero width; a mark */
	{STR_INIT("a\xe2\x80\xae"
		  "b\xe2\x81\xa6\xe2\x80\x8b\xef\xbb\xbf"),
	 "a\\xe2\\x80\\xaeb\\xe2\\x81\\xa6\\xe2\\x80\\x8b\\xef\\xbb\\xbf"},
	{STR_INIT("\xff\xc0\xbc\xed\xa0\x80"),
	 "\\xff\\xc0\\xbc\\xed\\xa0\\x80"},
	{STR_INIT("\xc3\xbc \xf0\x9f\x98\x80"), "\xc3\xbc \xf0\x9f\x98\x80"},
	{STR_INIT("ghp_abcdefghijklmnopqrstuvwxyz0123456789"),
	 "ghp_************************************"},
};

static void check_strings(struct arena *a)
{
	for (size_t i = 0; i < ARRAY_LEN(strings); i++) {
		const char *as = strings[i].as;
		struct str want =
			arena_fmt(a, "<span title=\"%s\">%s</span>", as, as);

		CHECK_MSG(str_eq(written(a, strings[i].s), want), "%s", want.p);
	}
}

/* However long, an element takes what HTML_TEXT_MAX allows it. */
static void check_bound(struct arena *a)
{
	size_t n = 1u << 20;
	char *p = arena_array(a, n, 1);
	struct str out;

	memset(p, '&', n);
	out = written(a, (struct str){p, n});
	CHECK(out.n < 12 * HTML_TEXT_MAX);
	CHECK(memmem(out.p, out.n, "… (1,048,576 bytes)", 21));
	/* Cut between characters. */
	for (size_t i = 0; i + 3 <= n; i += 3)
		memcpy(p + i, "\xe2\x82\xac", 3);
	out = written(a, (struct str){p, n});
	CHECK(!memmem(out.p, HTML_TEXT_MAX, "\\x", 2));
	CHECK(!memmem(out.p, out.n, "\xe2\xe2", 2));
}

/* Nothing of what HTML acts on but what the writer put there. */
static bool is_inert(struct str s)
{
	unsigned less = 0, more = 0, quotes = 0;

	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		less += c == '<';
		more += c == '>';
		quotes += c == '"';
		if (c < 0x20 || c == 0x7f || c == '\'' || c == '`' ||
		    str_utf8(s, i) == 0)
			return false;
		i += str_utf8(s, i) - 1;
	}
	return less == 2 && more == 2 && quotes == 2;
}

static void check_random(struct arena *a)
{
	static const char *const pieces[] = {"<",
					     ">",
					     "\"",
					     "'",
					     "&",
					     "`",
					     "=",
					     "\x80",
					     "\xe2",
					     "\xae",
					     "\xe2\x80\xae",
					     "-->",
					     "\0",
					     "x",
					     "\n",
					     "\xf0\x9f\x98\x80"};
	struct rng r = {1};
	struct buf b;

	for (int i = 0; i < 20000; i++) {
		buf_init(&b, a);
		for (unsigned k = rng_below(&r, 12); k-- > 0;) {
			const char *p =
				pieces[rng_below(&r, ARRAY_LEN(pieces))];

			buf_add(&b, (struct str){p, *p ? strlen(p) : 1});
		}
		CHECK(is_inert(written(a, buf_str(&b))));
	}
}

/* The browser takes the one style whose digest the page says. */
static void check_page(struct arena *a)
{
	char digest[SHA256_BASE64_MAX];
	struct str page, style;
	struct buf out;
	struct html h;
	const char *from, *to;

	buf_init(&out, a);
	html_init(&h, &out);
	page_begin(&h, STR("</title><script>"));
	page_end(&h);
	page = buf_str(&out);
	from = memmem(page.p, page.n, "<style>", 7);
	to = memmem(page.p, page.n, "</style>", 8);
	CHECK(from && to);
	style = (struct str){from + 7, (size_t)(to - from - 7)};
	CHECK(strstr(page.p, arena_fmt(a, "style-src 'sha256-%s'",
				       sha256_base64(style, digest))
				     .p));
	CHECK(strstr(page.p, "default-src 'none'"));
	CHECK(!strstr(page.p, "<script"));
	CHECK(!strstr(style.p, "url("));
	CHECK(!strstr(style.p, "@import"));
}

static void check_sizes(struct arena *a)
{
	CHECK(str_is(page_bytes(a, 0), "0 B"));
	CHECK(str_is(page_bytes(a, 999), "999 B"));
	CHECK(str_is(page_bytes(a, 1000), "1.0 kB"));
	CHECK(str_is(page_bytes(a, 9949), "9.9 kB"));
	CHECK(str_is(page_bytes(a, 99500), "100 kB"));
	CHECK(str_is(page_bytes(a, 999600), "1.0 MB"));
	CHECK(str_is(page_bytes(a, UINT64_MAX), "18 EB"));
	CHECK(str_is(page_count(a, 1, "file", "files"), "1 file"));
	CHECK(str_is(page_count(a, 12345, "file", "files"), "12,345 files"));
}

int main(void)
{
	struct arena *a = arena_new();

	check_strings(a);
	check_bound(a);
	check_random(a);
	check_page(a);
	check_sizes(a);
	arena_free(a);
	return check_status();
}
