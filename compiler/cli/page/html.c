#include "compiler/cli/page/html.h"

#include "compiler/cli/text/view.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum kind { TEXT, BLOCK };

static const struct {
	const char *name;
	enum kind kind;
} tags[] = {
#define TAG(id, name, kind) [HTML_##id] = {name, kind},
#define ATTR(id, name)
#include "compiler/cli/page/html.def"
#undef TAG
#undef ATTR
};

static const char *const attrs[] = {
#define TAG(id, name, kind)
#define ATTR(id, name) [HTML_ATTR_##id] = name,
#include "compiler/cli/page/html.def"
#undef TAG
#undef ATTR
};

void html_init(struct html *h, struct buf *out)
{
	*h = (struct html){.out = out};
}

/* --- strings -------------------------------------------------------------- */

static const char *entity_of(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	case '`': /* once a quote, to some browsers */
		return "&#96;";
	}
	return NULL;
}

static void put_escaped(struct buf *out, struct str clean)
{
	size_t plain = 0; /* where what needs nothing begins */

	for (size_t i = 0; i < clean.n; i++) {
		const char *as = entity_of(clean.p[i]);

		if (!as)
			continue;
		buf_add(out, str_slice(clean, plain, i));
		buf_adds(out, as);
		plain = i + 1;
	}
	buf_add(out, str_slice(clean, plain, clean.n));
}

/* At most so many bytes, and no half of a character. */
static struct str first_of(struct str s)
{
	size_t n = s.n < HTML_TEXT_MAX ? s.n : HTML_TEXT_MAX;

	while (n < s.n && n && ((unsigned char)s.p[n] & 0xc0) == 0x80)
		n--;
	return str_slice(s, 0, n);
}

/*
 * Cut behind cleaning: a secret is known by the whole of it. What is much too
 * long is cut before, with room for one at the edge, or cleaning it would cost
 * more than it shows.
 */
static void put_string(struct html *h, struct str s)
{
	struct arena *a = arena_new();
	struct str clean = view_cleaned(a, str_slice(s, 0, 4 * HTML_TEXT_MAX));
	struct str shown = first_of(clean);

	put_escaped(h->out, shown);
	if (shown.n < clean.n || s.n > 4 * HTML_TEXT_MAX)
		buf_addf(h->out, "… (%s bytes)", view_number(a, s.n).p);
	arena_free(a);
}

/* --- elements ------------------------------------------------------------- */

static void end_tag(struct html *h)
{
	if (h->in_tag)
		buf_addc(h->out, '>');
	h->in_tag = false;
}

static bool is_in_pre(const struct html *h)
{
	for (unsigned i = 0; i < h->depth; i++)
		if (h->open[i] == HTML_PRE)
			return true;
	return false;
}

void html_open(struct html *h, enum html_tag tag, const char *as)
{
	assert(h->depth < HTML_DEPTH);
	end_tag(h);
	if (tags[tag].kind == BLOCK && !is_in_pre(h))
		buf_addc(h->out, '\n');
	buf_addf(h->out, "<%s", tags[tag].name);
	h->open[h->depth++] = tag;
	h->in_tag = true;
	if (as)
		html_attr(h, HTML_ATTR_CLASS, str_of(as));
}

void html_attr(struct html *h, enum html_attr attr, struct str value)
{
	assert(h->in_tag);
	buf_addf(h->out, " %s=\"", attrs[attr]);
	put_string(h, value);
	buf_addc(h->out, '"');
}

void html_attr_u64(struct html *h, enum html_attr attr, uint64_t value)
{
	assert(h->in_tag);
	buf_addf(h->out, " %s=\"", attrs[attr]);
	buf_addu(h->out, value);
	buf_addc(h->out, '"');
}

void html_text(struct html *h, struct str s)
{
	end_tag(h);
	put_string(h, s);
}

void html_close(struct html *h)
{
	assert(h->depth);
	end_tag(h);
	buf_addf(h->out, "</%s>", tags[h->open[--h->depth]].name);
}

void html_line(struct html *h)
{
	end_tag(h);
	buf_addc(h->out, '\n');
}

void html_leaf(struct html *h, enum html_tag tag, const char *as, struct str s)
{
	html_open(h, tag, as);
	html_text(h, s);
	html_close(h);
}

/* --- formatted ------------------------------------------------------------ */

/* From malloc(). */
static char *formatted(const char *fmt, va_list args)
{
	char *text = NULL;

	if (vasprintf(&text, fmt, args) < 0)
		abort();
	return text;
}

void html_attrf(struct html *h, enum html_attr attr, const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	text = formatted(fmt, args);
	va_end(args);
	html_attr(h, attr, str_of(text));
	free(text);
}

void html_textf(struct html *h, const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	text = formatted(fmt, args);
	va_end(args);
	html_text(h, str_of(text));
	free(text);
}

void html_leaff(struct html *h, enum html_tag tag, const char *as,
		const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	text = formatted(fmt, args);
	va_end(args);
	html_leaf(h, tag, as, str_of(text));
	free(text);
}
