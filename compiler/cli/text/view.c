#include "compiler/cli/text/view.h"

#include "compiler/base/ascii.h"
#include "compiler/base/secret.h"

#include <string.h>

static const char *const codes[] = {
	[VIEW_PLAIN] = "",	 [VIEW_TITLE] = "\033[1m",
	[VIEW_DIM] = "\033[2m",	 [VIEW_GOOD] = "\033[32m",
	[VIEW_BAD] = "\033[31m", [VIEW_WARN] = "\033[33m",
};

/*
 * Decode one character; its length, or 0 when it is not UTF-8 (RFC 3629,
 * section 4: no overlong form, no surrogate, nothing beyond 10ffff).
 */
static size_t decode_char(struct str s, size_t i, uint32_t *out)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned char c = (unsigned char)s.p[i];
	size_t n = c < 0x80   ? 1
		   : c < 0xc2 ? 0
		   : c < 0xe0 ? 2
		   : c < 0xf0 ? 3
			      : 4;
	uint32_t code = n == 1 ? c : n == 0 ? 0 : c & (0xffu >> (n + 1));

	if (n == 0 || c > 0xf4 || n > s.n - i)
		return 0;
	for (size_t k = 1; k < n; k++) {
		unsigned char t = (unsigned char)s.p[i + k];

		if ((t & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (t & 0x3f);
	}
	if (code < least[n] || code > 0x10ffff || (code >> 11) == 0x1b)
		return 0;
	*out = code;
	return n;
}

/* Characters that a reader cannot see, or that move others around. */
static bool is_unseen(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad ||
	       c == 0x061c || c == 0x180e || (c >= 0x200b && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) ||
	       c == 0xfeff || (c >= 0xe0000 && c <= 0xe0fff);
}

void view_clean(struct buf *out, struct str s)
{
	size_t clean = 0; /* where what is clean begins */

	s = secret_hidden(out->a, s);
	for (size_t i = 0; i < s.n;) {
		uint32_t code = 0;
		size_t n = decode_char(s, i, &code);

		if (n && !is_unseen(code)) {
			i += n;
			continue;
		}
		buf_add(out, str_slice(s, clean, i));
		for (clean = i + (n ? n : 1); i < clean; i++)
			buf_addf(out, "\\x%02x", (unsigned char)s.p[i]);
	}
	buf_add(out, str_slice(s, clean, s.n));
}

struct str view_cleaned(struct arena *a, struct str s)
{
	char room[256];
	struct buf b;

	buf_init_in(&b, a, room, sizeof(room));
	view_clean(&b, s);
	return buf_keep(&b);
}

unsigned view_columns(struct str clean)
{
	unsigned n = 0;

	for (size_t i = 0; i < clean.n; i++)
		n += ((unsigned char)clean.p[i] & 0xc0) != 0x80;
	return n;
}

/* How many bytes of s take the first columns. */
static size_t bytes_of(struct str s, unsigned columns)
{
	size_t i = 0;

	for (; i < s.n; i++) {
		if (((unsigned char)s.p[i] & 0xc0) == 0x80)
			continue;
		if (columns-- == 0)
			break;
	}
	return i;
}

struct str view_cut(struct str clean, unsigned columns)
{
	return str_slice(clean, 0, bytes_of(clean, columns));
}

struct str view_fit(struct arena *a, struct str clean, unsigned columns)
{
	if (view_columns(clean) <= columns || columns == 0)
		return view_cut(clean, columns);
	return arena_fmt(a, "%.*s…", STR_ARG(view_cut(clean, columns - 1)));
}

void view_paint(const struct view *v, enum view_paint paint, struct str s)
{
	if (v->colour && s.n)
		buf_adds(v->out, codes[paint]);
	buf_add(v->out, s);
	if (v->colour && s.n && paint != VIEW_PLAIN)
		buf_adds(v->out, "\033[0m");
}

static void put_blanks(const struct view *v, unsigned n)
{
	while (n--)
		buf_addc(v->out, ' ');
}

void view_row(const struct view *v, unsigned indent, enum view_paint paint,
	      struct str text, struct str right)
{
	unsigned room = v->width > indent + 8 ? v->width - indent : 8;
	unsigned wide = view_columns(text), edge = view_columns(right);
	unsigned further = 0;

	put_blanks(v, indent);
	while (wide > room) {
		size_t n = bytes_of(text, room - further);

		view_paint(v, paint, str_slice(text, 0, n));
		buf_addc(v->out, '\n');
		text = str_slice(text, n, text.n);
		further = 2;
		put_blanks(v, indent + further);
		wide = view_columns(text) + further;
	}
	view_paint(v, paint, text);
	if (edge) {
		if (wide + 2 + edge > room) {
			buf_addc(v->out, '\n');
			wide = 0;
			put_blanks(v, indent);
		}
		put_blanks(v, room > wide + edge ? room - wide - edge : 2);
		view_paint(v, VIEW_DIM, right);
	}
	buf_addc(v->out, '\n');
}

void view_wrap(const struct view *v, unsigned indent, unsigned hang,
	       struct str text)
{
	unsigned column = indent;
	struct str word;
	bool first = true;

	while (str_field(&text, ' ', &word)) {
		unsigned n = view_columns(word);

		if (n == 0)
			continue;
		if (!first && column + 1 + n > v->width) {
			buf_addc(v->out, '\n');
			put_blanks(v, hang);
			column = hang;
		} else if (!first) {
			buf_addc(v->out, ' ');
			column++;
		}
		buf_add(v->out, word);
		column += n;
		first = false;
	}
	buf_addc(v->out, '\n');
}

void view_paragraph(const struct view *v, struct str text)
{
	put_blanks(v, 2);
	view_wrap(v, 2, 2, text);
}

void view_title(const struct view *v, const char *title, uint64_t count,
		const char *unit)
{
	struct arena *a = v->out->a;
	struct str right = {0};

	if (unit)
		right = arena_fmt(a, "%s %s%s", view_number(a, count).p, unit,
				  count == 1 || !*unit ? "" : "s");
	buf_addc(v->out, '\n');
	view_row(v, 0, VIEW_TITLE, str_of(title), right);
}

bool view_more(const struct view *v, unsigned indent, uint64_t i, uint64_t n)
{
	return view_more_by(v, indent, i, n, VIEW_ALL_JSON);
}

bool view_more_by(const struct view *v, unsigned indent, uint64_t i, uint64_t n,
		  const char *all)
{
	if (n <= VIEW_WHOLE || i < VIEW_FOLDED)
		return false;
	view_row(v, indent, VIEW_DIM,
		 arena_fmt(v->out->a, "… and %s more%s%s",
			   view_number(v->out->a, n - i).p, all ? "; " : "",
			   all ? all : ""),
		 (struct str){0});
	return true;
}

struct str view_source(struct arena *a, const struct sources *s, struct span at)
{
	struct place p = sources_place(s, at);
	struct buf b;

	buf_init(&b, a);
	if (!p.source)
		return (struct str){0};
	view_clean(&b, p.source->name);
	if (p.source->layer != LAYER_FLAGS && p.source->layer != LAYER_FLOOR)
		buf_addf(&b, ":%u", p.line);
	return buf_str(&b);
}

struct str view_number(struct arena *a, uint64_t n)
{
	struct str digits = arena_fmt(a, "%llu", (unsigned long long)n);
	struct buf b;

	buf_init(&b, a);
	for (size_t i = 0; i < digits.n; i++) {
		if (i && (digits.n - i) % 3 == 0)
			buf_addc(&b, ',');
		buf_addc(&b, digits.p[i]);
	}
	return buf_str(&b);
}

void view_shell_word(struct buf *out, struct str word)
{
	bool plain = word.n > 0;

	for (size_t i = 0; i < word.n; i++) {
		char c = word.p[i];

		if (!ascii_is_alnum(c) && !strchr("/._-+@%:,", c))
			plain = false;
	}
	if (plain) {
		buf_add(out, word);
		return;
	}
	buf_addc(out, '\'');
	for (size_t i = 0; i < word.n; i++) {
		if (word.p[i] == '\'')
			buf_adds(out, "'\\''");
		else
			buf_addc(out, word.p[i]);
	}
	buf_addc(out, '\'');
}
