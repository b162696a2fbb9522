#include "compiler/cli/page/page.h"

#include "compiler/base/sha256.h"
#include "compiler/cli/text/view.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char style[] =
#include "compiler/cli/page/page.css.inc"
	;

void page_begin(struct html *h, struct str title)
{
	char digest[SHA256_BASE64_MAX];
	struct buf *out = h->out;

	buf_addf(
		out,
		"<!DOCTYPE html>\n"
		"<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-%s'; base-uri 'none'; form-action 'none'\">\n"
		"<meta name=\"referrer\" content=\"no-referrer\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<meta name=\"color-scheme\" content=\"light dark\">\n"
		"<title>",
		sha256_base64(str_of(style), digest));
	html_text(h, title);
	buf_addf(out, "</title>\n<style>%s</style>\n</head>\n<body>", style);
	html_open(h, HTML_MAIN, NULL);
}

void page_end(struct html *h)
{
	html_close(h);
	buf_adds(h->out, "\n</body>\n</html>\n");
}

void page_section(struct html *h, const char *id, const char *title,
		  struct str count)
{
	html_open(h, HTML_SECTION, NULL);
	html_attr(h, HTML_ATTR_ID, str_of(id));
	html_open(h, HTML_H2, NULL);
	html_text(h, str_of(title));
	if (count.n)
		html_leaf(h, HTML_SPAN, "count", count);
	html_close(h);
}

void page_section_end(struct html *h)
{
	html_close(h);
}

void page_note(struct html *h, const char *fmt, ...)
{
	char text[HTML_TEXT_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	html_leaf(h, HTML_P, "note", str_of(text));
}

void page_figure(struct html *h, struct str number, const char *of,
		 const char *as)
{
	html_open(h, HTML_DIV, as);
	html_leaf(h, HTML_B, NULL, number);
	html_leaf(h, HTML_SPAN, NULL, str_of(of));
	html_close(h);
}

void page_columns(struct html *h, const char *names)
{
	struct str rest = str_of(names), name;

	html_open(h, HTML_THEAD, NULL);
	html_open(h, HTML_TR, NULL);
	while (str_field(&rest, '|', &name)) {
		bool is_number = str_starts(name, STR(">"));

		html_leaf(h, HTML_TH, is_number ? "num" : NULL,
			  str_slice(name, is_number, name.n));
	}
	html_close(h);
	html_close(h);
}

struct str page_bytes(struct arena *a, uint64_t n)
{
	static const char *const units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
	double v = (double)n;
	size_t i = 0;

	if (n < 1000)
		return arena_fmt(a, "%" PRIu64 " B", n);
	for (v /= 1000; v >= 999.5 && i + 1 < ARRAY_LEN(units); i++)
		v /= 1000;
	return arena_fmt(a, v < 9.95 ? "%.1f %s" : "%.0f %s", v, units[i]);
}

struct str page_count(struct arena *a, uint64_t n, const char *one,
		      const char *many)
{
	return arena_fmt(a, "%s %s", view_number(a, n).p, n == 1 ? one : many);
}
