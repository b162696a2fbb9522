/* XML is well-formed whatever the strings hold; tests/cases/test-junit has a
 * parser read it. */
#include "compiler/base/xml.h"

#include "tests/check.h"

#include <string.h>

/* One element with the string as attribute and as text. */
static struct str written(struct arena *a, struct str s)
{
	struct buf out;
	struct xml x;

	buf_init(&out, a);
	xml_init(&x, &out);
	xml_open(&x, "e");
	xml_attr(&x, "a", s);
	xml_text(&x, s);
	xml_close(&x);
	return buf_str(&out);
}

#define HEAD "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"

static const struct {
	struct str s;
	const char *attr, *text;
} strings[] = {
	{STR_INIT(""), "", ""},
	{STR_INIT("a & b"), "a &amp; b", "a &amp; b"},
	{STR_INIT("<\"'>"), "&lt;&quot;'&gt;", "&lt;\"'&gt;"},
	{STR_INIT("]]>"), "]]&gt;", "]]&gt;"},
	{STR_INIT("a\tb\nc"), "a&#9;b&#10;c", "a\tb\nc"},
	{STR_INIT("\r"), "\\x0d", "\\x0d"},
	{STR_INIT("\0"), "\\x00", "\\x00"},
	{STR_INIT("\x01\x1b[31m\x7f"), "\\x01\\x1b[31m\\x7f",
	 "\\x01\\x1b[31m\\x7f"},
	{STR_INIT("\xc3\xbc \xf0\x9f\x98\x80"), "\xc3\xbc \xf0\x9f\x98\x80",
	 "\xc3\xbc \xf0\x9f\x98\x80"},
	/* no UTF-8: alone, cut off, overlong, a surrogate, beyond the end */
	{STR_INIT("\xff"), "\\xff", "\\xff"},
	{STR_INIT("\xc3"), "\\xc3", "\\xc3"},
	{STR_INIT("\xc0\xbc"), "\\xc0\\xbc", "\\xc0\\xbc"},
	{STR_INIT("\xed\xa0\x80"), "\\xed\\xa0\\x80", "\\xed\\xa0\\x80"},
	{STR_INIT("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80",
	 "\\xf4\\x90\\x80\\x80"},
	/* UTF-8, and no character of XML */
	{STR_INIT("\xef\xbf\xbe\xef\xbf\xbf"), "\\xef\\xbf\\xbe\\xef\\xbf\\xbf",
	 "\\xef\\xbf\\xbe\\xef\\xbf\\xbf"},
	{STR_INIT("\xef\xbf\xbd"), "\xef\xbf\xbd", "\xef\xbf\xbd"},
};

static void check_strings(struct arena *a)
{
	for (size_t i = 0; i < ARRAY_LEN(strings); i++) {
		struct str want = arena_fmt(a, HEAD "<e a=\"%s\">%s</e>\n",
					    strings[i].attr, strings[i].text);

		CHECK(str_eq(written(a, strings[i].s), want));
	}
}

static void check_nesting(struct arena *a)
{
	struct buf out;
	struct xml x;

	buf_init(&out, a);
	xml_init(&x, &out);
	xml_open(&x, "a");
	xml_attr_u64(&x, "n", UINT64_MAX);
	xml_open(&x, "b");
	xml_open(&x, "c");
	xml_text(&x, STR("text"));
	xml_close(&x);
	xml_open(&x, "d");
	xml_close(&x);
	xml_close(&x);
	xml_open(&x, "e");
	xml_close(&x);
	xml_close(&x);
	CHECK(str_is(buf_str(&out), HEAD "<a n=\"18446744073709551615\">\n"
					 "  <b>\n"
					 "    <c>text</c>\n"
					 "    <d/>\n"
					 "  </b>\n"
					 "  <e/>\n"
					 "</a>\n"));
}

int main(void)
{
	struct arena *a = arena_new();

	check_strings(a);
	check_nesting(a);
	arena_free(a);
	return check_status();
}
