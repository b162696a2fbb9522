#include "compiler/base/xml.h"

#include <assert.h>

void xml_init(struct xml *x, struct buf *out)
{
	*x = (struct xml){.out = out};
	buf_adds(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
}

/* U+FFFE and U+FFFF: UTF-8 has them, XML has not. */
static bool is_noncharacter(const char *s, size_t n)
{
	const unsigned char *p = (const unsigned char *)s;

	return n == 3 && p[0] == 0xef && p[1] == 0xbf && p[2] >= 0xbe;
}

/* What stands for an ASCII character, or NULL for itself. */
static const char *escape_char(char c, bool in_attr)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return in_attr ? "&quot;" : NULL;
	case '\n': /* else an attribute's would be read as a blank */
		return in_attr ? "&#10;" : NULL;
	case '\t':
		return in_attr ? "&#9;" : NULL;
	}
	return NULL;
}

static void put_escaped(struct buf *out, struct str s, bool in_attr)
{
	for (size_t i = 0; i < s.n;) {
		unsigned char c = (unsigned char)s.p[i];
		size_t n = str_utf8(s, i);
		const char *as = n == 1 ? escape_char(s.p[i], in_attr) : NULL;
		bool control =
			(c < 0x20 && c != '\n' && c != '\t') || c == 0x7f;

		if (n == 0 || control || is_noncharacter(s.p + i, n)) {
			buf_addf(out, "\\x%02x", c);
			i++;
			continue;
		}
		if (as)
			buf_adds(out, as);
		else
			buf_add(out, (struct str){s.p + i, n});
		i += n;
	}
}

static void end_tag(struct xml *x)
{
	if (x->in_tag)
		buf_addc(x->out, '>');
	x->in_tag = false;
}

static void new_line(struct xml *x)
{
	buf_addc(x->out, '\n');
	for (unsigned i = 0; i < x->depth; i++)
		buf_adds(x->out, "  ");
}

void xml_open(struct xml *x, const char *name)
{
	assert(x->depth < XML_DEPTH && !x->has_text);
	end_tag(x);
	if (x->depth)
		new_line(x);
	buf_addf(x->out, "<%s", name);
	x->names[x->depth++] = name;
	x->in_tag = true;
}

void xml_attr(struct xml *x, const char *name, struct str value)
{
	assert(x->in_tag);
	buf_addf(x->out, " %s=\"", name);
	put_escaped(x->out, value, true);
	buf_addc(x->out, '"');
}

void xml_attr_u64(struct xml *x, const char *name, uint64_t value)
{
	assert(x->in_tag);
	buf_addf(x->out, " %s=\"", name);
	buf_addu(x->out, value);
	buf_addc(x->out, '"');
}

void xml_text(struct xml *x, struct str s)
{
	end_tag(x);
	put_escaped(x->out, s, false);
	x->has_text = true;
}

void xml_close(struct xml *x)
{
	const char *name = x->names[--x->depth];

	if (x->in_tag) {
		buf_adds(x->out, "/>");
	} else {
		if (!x->has_text)
			new_line(x);
		buf_addf(x->out, "</%s>", name);
	}
	x->in_tag = x->has_text = false;
	if (x->depth == 0)
		buf_addc(x->out, '\n');
}

void xml_escape(struct buf *out, struct str s)
{
	put_escaped(out, s, false);
}
