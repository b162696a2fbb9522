/*
 * The one spelling of a path that a rule may use; doc/semantics.md, section 3.
 *
 * A request whose path is spelled in another way is refused by the gate and
 * never repaired, so a rule with such a path could match nothing, or worse,
 * deny nothing. Percent escapes follow RFC 3986, section 6.2.2: upper-case
 * hex, and none for what needs none.
 */
#include "compiler/base/ascii.h"
#include "compiler/front/word/dest.h"

struct path_walk {
	struct pass_ctx *c;
	const struct text *text;
	struct str s;  /* the path */
	uint32_t base; /* its offset in the text */
};

static bool bad_path(struct path_walk *w, size_t beg, size_t end,
		     const char *what)
{
	struct span part = {w->base + (uint32_t)beg, w->base + (uint32_t)end};

	diag_error(w->c->diags, DIAG_URL_PATH, text_at(w->text, part),
		   "%s in a path", what);
	return false;
}

static bool check_escape(struct path_walk *w, size_t i)
{
	int hi = i + 1 < w->s.n ? ascii_hex(w->s.p[i + 1]) : -1;
	int lo = i + 2 < w->s.n ? ascii_hex(w->s.p[i + 2]) : -1;
	int v = hi * 16 + lo;

	if (hi < 0 || lo < 0) {
		bad_path(w, i, i + 1, "a '%' without two hex digits");
		return false;
	}
	if (v == '/' || v == '\\' || v == '.' || v == '%' || v < 0x20 ||
	    v == 0x7f) {
		bad_path(w, i, i + 3,
			 v == '%' ? "an encoded '%'"
			 : v < 0x20 || v == 0x7f
				 ? "an encoded control character"
				 : "an encoded '/', '\\' or '.'");
		diag_help(w->c->diags,
			  "the gate refuses every request with one");
		return false;
	}
	if (ascii_is_unreserved((char)v)) {
		bad_path(w, i, i + 3, "an escape that needs none");
		diag_help(w->c->diags, "write '%c'", v);
		return false;
	}
	if ((w->s.p[i + 1] >= 'a') || (w->s.p[i + 2] >= 'a')) {
		bad_path(w, i, i + 3, "an escape in lower case");
		diag_help(w->c->diags, "write '%%%02X'", (unsigned)v);
		return false;
	}
	return true;
}

static bool check_byte(struct path_walk *w, size_t i)
{
	unsigned char ch = (unsigned char)w->s.p[i];
	size_t end = i + 1;

	if (ch == '%')
		return check_escape(w, i);
	if (ch == '?' || ch == '#') {
		bad_path(w, i, w->s.n, ch == '?' ? "a query" : "a fragment");
		diag_help(w->c->diags,
			  "leave it out: rules look at the path alone");
		return false;
	}
	if (ch == '\\')
		return bad_path(w, i, end, "a backslash");
	if (ch <= 0x20 || ch == 0x7f)
		return bad_path(w, i, end,
				ch == ' ' ? "a blank" : "a control character");
	if (ch == '*') {
		bad_path(w, i, end, "a '*'");
		diag_help(w->c->diags,
			  "paths are prefixes: '/api' matches all below it");
		return false;
	}
	if (ch < 0x80)
		return true;
	while (end < w->s.n && ((unsigned char)w->s.p[end] & 0xc0) == 0x80)
		end++;
	bad_path(w, i, end, "a character outside ASCII");
	if (end - i == 2)
		diag_help(w->c->diags, "write '%%%02X%%%02X'", ch,
			  (unsigned char)w->s.p[i + 1]);
	else
		diag_help(w->c->diags, "write its UTF-8 bytes as '%%XX' each");
	return false;
}

/* beg to end: what stands between two slashes. */
static bool check_segment(struct path_walk *w, size_t beg, size_t end)
{
	struct str s = str_slice(w->s, beg, end);
	struct str name = str_slice(s, 0, str_find(s, ';', 0));

	if (!str_is(name, ".") && !str_is(name, ".."))
		return true;
	if (name.n < s.n)
		return bad_path(w, beg, end, "a ';' in a dot segment");
	bad_path(w, beg, end,
		 str_is(s, ".") ? "a '.' segment" : "a '..' segment");
	diag_help(w->c->diags, "write the path that it leads to");
	return false;
}

bool dest_path_check(struct pass_ctx *c, const struct text *text,
		     struct span part)
{
	struct str s = str_slice(text->s, part.beg, part.end);
	struct path_walk w = {c, text, s, part.beg};
	size_t beg = 0;

	for (size_t i = 0; i < s.n; i++)
		if (!check_byte(&w, i))
			return false;
	for (;;) {
		size_t end = str_find(s, '/', beg);

		if (end == beg && beg > 0 && end < s.n) {
			bad_path(&w, beg - 1, beg + 1, "an empty segment");
			diag_help(c->diags, "write one '/'");
			return false;
		}
		if (!check_segment(&w, beg, end))
			return false;
		if (end == s.n)
			return true;
		beg = end + 1;
	}
}
