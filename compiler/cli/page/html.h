/*
 * HTML in small: elements, attributes, text. Elements and attributes are words
 * of html.def; a string gets into a page by html_attr(), html_text() and
 * html_textf() alone. All three clean it as for a terminal (what is invisible,
 * reorders a line or is no UTF-8 is shown as \xNN, secrets as '*'), cut it, and
 * escape what HTML gives a meaning to, in text and in attributes alike. So a
 * page is what its writer built, whatever the strings hold.
 *
 *	html_open(&h, HTML_TD, "name");
 *	html_text(&h, name);
 *	html_close(&h);
 */
#ifndef COMPILER_CLI_PAGE_HTML_H
#define COMPILER_CLI_PAGE_HTML_H

#include "compiler/base/buf.h"

#define HTML_DEPTH    64u   /* elements within elements, asserted */
#define HTML_TEXT_MAX 2000u /* bytes of one string; the rest is counted */

enum html_tag {
#define TAG(id, name, kind) HTML_##id,
#define ATTR(id, name)
#include "compiler/cli/page/html.def"
#undef TAG
#undef ATTR
	HTML_TAGS,
};

enum html_attr {
#define TAG(id, name, kind)
#define ATTR(id, name) HTML_ATTR_##id,
#include "compiler/cli/page/html.def"
#undef TAG
#undef ATTR
	HTML_ATTRS,
};

struct html {
	struct buf *out;
	enum html_tag open[HTML_DEPTH];
	unsigned depth;
	bool in_tag; /* attributes may follow */
};

void html_init(struct html *h, struct buf *out);
/* as: what it is to the stylesheet, a literal; or NULL. */
void html_open(struct html *h, enum html_tag tag, const char *as);
/* Between html_open() and whatever comes next in the element. */
void html_attr(struct html *h, enum html_attr attr, struct str value);
void html_attr_u64(struct html *h, enum html_attr attr, uint64_t value);
void html_attrf(struct html *h, enum html_attr attr, const char *fmt, ...)
	printf_like(3, 4);
void html_text(struct html *h, struct str s);
void html_textf(struct html *h, const char *fmt, ...) printf_like(2, 3);
void html_close(struct html *h);
/* An element that holds a text. */
void html_leaf(struct html *h, enum html_tag tag, const char *as, struct str s);
void html_leaff(struct html *h, enum html_tag tag, const char *as,
		const char *fmt, ...) printf_like(4, 5);
/* In HTML_PRE: the next text begins a line. */
void html_line(struct html *h);

#endif
