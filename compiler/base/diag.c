#include "compiler/base/diag.h"

#include "compiler/base/limits.h"
#include "compiler/base/lint.h"
#include "compiler/base/secret.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum part_kind { PART_ERROR, PART_WARNING, PART_NOTE, PART_HELP };

struct part {
	enum part_kind kind;
	struct span at;
	struct str text;
};

struct diag {
	enum diag_id id;
	unsigned order; /* when it was reported: breaks ties between places */
	struct str subject;	/* diag_about() */
	VEC(struct part) parts; /* the first is the error or warning itself */
};

void diags_init(struct diags *d, struct arena *a, const struct sources *s)
{
	*d = (struct diags){.a = a, .sources = s};
}

static struct str format_text(struct diags *d, const char *fmt, va_list ap)
{
	char text[1024];
	int n = vsnprintf(text, sizeof(text), fmt, ap);
	size_t used = n < 0 ? 0 : (size_t)n;

	if (used >= sizeof(text))
		used = sizeof(text) - 1;
	return arena_str(d->a, secret_hidden(d->a, (struct str){text, used}));
}

static void open_diag(struct diags *d, enum part_kind kind, enum diag_id id,
		      struct span at, struct str text)
{
	struct diag *g = arena_new_of(d->a, struct diag);

	g->id = id;
	g->order = d->list.n;
	*vec_push(d->a, &g->parts) = (struct part){kind, at, text};
	*vec_push(d->a, &d->list) = g;
	d->last = g;
	d->sorted = NULL;
}

void diag_error(struct diags *d, enum diag_id id, struct span at,
		const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	open_diag(d, PART_ERROR, id, at, format_text(d, fmt, ap));
	va_end(ap);
	d->errors++;
}

void diag_warn(struct diags *d, enum diag_id id, struct span at,
	       const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	open_diag(d, PART_WARNING, id, at, format_text(d, fmt, ap));
	va_end(ap);
	d->warnings++;
}

void diag_about(struct diags *d, struct str subject)
{
	if (d->last)
		d->last->subject = subject;
}

static void add_part(struct diags *d, enum part_kind kind, struct span at,
		     struct str text)
{
	if (d->last)
		*vec_push(d->a, &d->last->parts) =
			(struct part){kind, at, text};
}

void diag_note(struct diags *d, struct span at, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_part(d, PART_NOTE, at, format_text(d, fmt, ap));
	va_end(ap);
}

void diag_help(struct diags *d, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_part(d, PART_HELP, (struct span){0}, format_text(d, fmt, ap));
	va_end(ap);
}

/*
 * A character that shows nothing itself, or reorders what stands around it:
 * soft hyphen, zero-width and directional marks, byte order mark.
 */
static bool is_hidden(const char *s, size_t n)
{
	const unsigned char *p = (const unsigned char *)s;

	if (n == 2)
		return p[0] == 0xc2 && p[1] == 0xad;
	if (n != 3)
		return false;
	if (p[0] == 0xe2 && p[1] == 0x80)
		return (p[2] >= 0x8b && p[2] <= 0x8f) ||
		       (p[2] >= 0xa8 && p[2] <= 0xae);
	return (p[0] == 0xe2 && p[1] == 0x81 && p[2] >= 0xa0 && p[2] <= 0xaf) ||
	       (p[0] == 0xef && p[1] == 0xbb && p[2] == 0xbf);
}

/*
 * Bytes of s as they may go to a terminal. keep_tabs: a tab stays one, so that
 * a caret under it stands right. C1 controls (c2 80 to c2 9f) are escaped too.
 */
static void put_printable(struct buf *out, struct str s, bool keep_tabs)
{
	for (size_t i = 0; i < s.n;) {
		unsigned char c = (unsigned char)s.p[i];
		size_t n = str_utf8(s, i);
		bool c1 =
			n == 2 && c == 0xc2 && (unsigned char)s.p[i + 1] < 0xa0;

		if (c == '\t' && keep_tabs) {
			buf_addc(out, '\t');
			i++;
		} else if (n == 0 || c1 || c < 0x20 || c == 0x7f) {
			buf_addf(out, "\\x%02x", c);
			i++;
		} else if (is_hidden(s.p + i, n)) {
			for (size_t end = i + n; i < end; i++)
				buf_addf(out, "\\x%02x", (unsigned char)s.p[i]);
		} else {
			buf_add(out, (struct str){s.p + i, n});
			i += n;
		}
	}
}

#define QUOTE_MAX 60

const char *diag_quote(struct diags *d, struct str s)
{
	struct buf b;
	size_t cut = s.n;

	s = secret_hidden(d->a, s);
	if (cut > QUOTE_MAX) {
		cut = QUOTE_MAX;
		while (cut > 0 && ((unsigned char)s.p[cut] & 0xc0) == 0x80)
			cut--;
	}
	buf_init(&b, d->a);
	put_printable(&b, str_slice(s, 0, cut), false);
	if (cut < s.n)
		buf_adds(&b, "…");
	return b.p;
}

/* Columns that a piece of a line takes when printed by put_printable(). */
static void put_underline(struct buf *out, struct arena *a, struct str s,
			  char mark)
{
	struct buf shown;

	buf_init(&shown, a);
	put_printable(&shown, s, true);
	for (size_t i = 0; i < shown.n; i++) {
		char c = shown.p[i];

		if (((unsigned char)c & 0xc0) == 0x80)
			continue;
		buf_addc(out, c == '\t' && mark == ' ' ? '\t' : mark);
	}
}

/* Longest part of a source line that is shown around a caret. */
#define LINE_SHOWN 160

/*
 * A part of a line without its secrets, as long as it was, so that the caret
 * stays where it belongs. They may begin before it.
 */
static struct str shown_line(struct arena *a, struct str line, size_t from)
{
	size_t before = from < LIMIT_SCALAR_BYTES ? from : LIMIT_SCALAR_BYTES;
	struct str all = str_slice(line, from - before,
				   from + LINE_SHOWN + LIMIT_SCALAR_BYTES);

	return str_slice(secret_hidden(a, all), before, before + LINE_SHOWN);
}

static void print_line(struct buf *out, struct place p, struct span at,
		       const char *on, const char *off)
{
	struct arena *a = out->a;
	size_t col = p.column - 1, len = at.end - at.beg, from = 0;
	struct str line;

	if (col > p.text.n)
		col = p.text.n;
	if (len > p.text.n - col)
		len = p.text.n - col;
	if (col > LINE_SHOWN / 2 && p.text.n > LINE_SHOWN)
		from = col - LINE_SHOWN / 2;
	while (from && ((unsigned char)p.text.p[from] & 0xc0) == 0x80)
		from--;
	line = shown_line(a, p.text, from);
	if (len > line.n - (col - from))
		len = line.n - (col - from);
	buf_addf(out, "%5u | ", p.line);
	put_printable(out, line, true);
	buf_adds(out, "\n      | ");
	put_underline(out, a, str_slice(line, 0, col - from), ' ');
	buf_adds(out, on);
	if (len)
		put_underline(out, a,
			      str_slice(line, col - from, col - from + len),
			      '^');
	else
		buf_addc(out, '^');
	buf_adds(out, off);
	buf_addc(out, '\n');
}

struct paint {
	const char *level[4], *bold, *off;
};

static const struct paint plain = {{"", "", "", ""}, "", ""};
static const struct paint colours = {
	{"\033[1;31m", "\033[1;35m", "\033[1;36m", "\033[1;32m"},
	"\033[1m",
	"\033[0m",
};

static void print_part(const struct diags *d, struct buf *out,
		       const struct diag *g, const struct part *part,
		       const struct paint *c)
{
	static const char *const word[] = {"error", "warning", "note", "help"};
	const struct lint *lint = lint_of(g->id);
	struct place p = sources_place(d->sources, part->at);

	if (part->kind == PART_HELP) {
		buf_addf(out, "      = %shelp:%s ", c->level[PART_HELP],
			 c->off);
		buf_add(out, part->text);
		buf_addc(out, '\n');
		return;
	}
	buf_adds(out, c->bold);
	if (p.source) {
		put_printable(out, p.source->name, false);
		buf_addf(out, ":%u:%u: ", p.line, p.column);
	} else {
		buf_adds(out, "membrane: ");
	}
	buf_addf(out, "%s%s%s:%s ", c->off, c->level[part->kind],
		 word[part->kind], c->off);
	buf_add(out, part->text);
	if (part->kind == PART_ERROR)
		buf_addf(out, " [E%03d]", (int)g->id);
	if (part->kind == PART_WARNING)
		buf_addf(out, " [W%03d%s%s]", (int)g->id, lint ? " " : "",
			 lint ? lint->name : "");
	buf_addc(out, '\n');
	if (p.source)
		print_line(out, p, part->at, c->level[part->kind], c->off);
}

static int by_place(const void *va, const void *vb)
{
	const struct diag *a = *(const struct diag *const *)va;
	const struct diag *b = *(const struct diag *const *)vb;
	uint32_t pa = a->parts.v[0].at.beg, pb = b->parts.v[0].at.beg;

	if (pa != pb)
		return pa < pb ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

static struct diag **sorted_diags(const struct diags *d, struct arena *a)
{
	struct diag **list = arena_array(a, d->list.n + 1, sizeof(*list));

	if (d->list.n == 0)
		return list;
	memcpy(list, d->list.v, d->list.n * sizeof(*list));
	qsort(list, d->list.n, sizeof(*list), by_place);
	return list;
}

void diags_print(const struct diags *d, struct buf *out, bool colour)
{
	const struct paint *c = colour ? &colours : &plain;
	struct diag **list = sorted_diags(d, out->a);
	unsigned errors = 0, warnings = 0;

	for (uint32_t i = 0; i < d->list.n; i++) {
		const struct diag *g = list[i];
		bool error = g->parts.v[0].kind == PART_ERROR;

		if (error ? ++errors > LIMIT_ERRORS
			  : ++warnings > LIMIT_WARNINGS)
			continue;
		vec_each(part, &g->parts)
			print_part(d, out, g, part, c);
	}
	if (errors > LIMIT_ERRORS)
		buf_addf(out, "membrane: %u more error%s not shown\n",
			 errors - LIMIT_ERRORS,
			 errors - LIMIT_ERRORS == 1 ? "" : "s");
	if (warnings > LIMIT_WARNINGS)
		buf_addf(out, "membrane: %u more warning%s not shown\n",
			 warnings - LIMIT_WARNINGS,
			 warnings - LIMIT_WARNINGS == 1 ? "" : "s");
}

void diags_show(const struct diags *d, struct buf *out, struct span at,
		struct str text, bool colour)
{
	const struct paint *c = colour ? &colours : &plain;
	struct place p = sources_place(d->sources, at);

	buf_adds(out, c->bold);
	if (p.source) {
		put_printable(out, p.source->name, false);
		buf_addf(out, ":%u:%u: ", p.line, p.column);
	}
	buf_addf(out, "%s%.*s\n", c->off, STR_ARG(text));
	if (p.source)
		print_line(out, p, at, c->level[PART_NOTE], c->off);
}

bool diags_get(struct diags *d, unsigned i, struct diag_view *out)
{
	const struct diag *g;

	if (i >= d->list.n)
		return false;
	if (!d->sorted)
		d->sorted = sorted_diags(d, d->a);
	g = d->sorted[i];
	*out = (struct diag_view){
		.error = g->parts.v[0].kind == PART_ERROR,
		.id = g->id,
		.at = g->parts.v[0].at,
		.text = g->parts.v[0].text,
		.subject = g->subject,
	};
	vec_each(part, &g->parts)
		if (part->kind == PART_HELP)
			out->help = part->text;
	return true;
}

void diags_filter(struct diags *d,
		  bool (*keep)(void *ctx, const struct diag_view *view),
		  void *ctx)
{
	struct diag **all = sorted_diags(d, d->a);
	uint32_t n = d->list.n, kept = 0;
	struct diag_view view;

	d->sorted = all;
	for (uint32_t i = 0; i < n && diags_get(d, i, &view); i++) {
		if (!view.error && !keep(ctx, &view))
			d->warnings--;
		else
			d->list.v[kept++] = all[i];
	}
	d->list.n = kept;
	d->last = NULL;
	d->sorted = NULL;
}
