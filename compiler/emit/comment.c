#include "compiler/emit/comment.h"

#include "compiler/emit/places.h"

#define SHOWN 8u /* of the rules that made one thing */
#define TAB   8u

struct pen {
	struct buf *out;
	const char *indent;
	size_t column;
	bool fresh; /* no word in this line yet */
};

static size_t columns_of(const char *indent)
{
	size_t n = 0;

	for (; *indent; indent++)
		n += *indent == '\t' ? TAB : 1;
	return n;
}

static void begin_comment(struct pen *p, const char *mark)
{
	buf_addf(p->out, "%s%s", p->indent, mark);
	p->column = columns_of(p->indent) + str_of(mark).n;
	p->fresh = true;
}

static void wrap_comment(struct pen *p)
{
	buf_addc(p->out, '\n');
	begin_comment(p, "#    ");
}

static bool is_plain(char c)
{
	return c > ' ' && c <= '~' && c != '\\';
}

static size_t width_of(struct str word)
{
	size_t n = 0;

	for (size_t i = 0; i < word.n; i++)
		n += is_plain(word.p[i]) ? 1 : 4;
	return n;
}

static void put_byte(struct pen *p, char c)
{
	size_t wide = is_plain(c) ? 1 : 4;

	if (p->column + wide > COMMENT_COLUMNS)
		wrap_comment(p);
	p->column += wide;
	p->fresh = false;
	if (is_plain(c))
		buf_addc(p->out, c);
	else
		buf_addf(p->out, "\\x%02X", (unsigned char)c);
}

/* What follows the blanks goes on the next line where it is too long. */
static void put_word(struct pen *p, const char *blanks, struct str word)
{
	size_t apart = str_of(blanks).n;

	if (!p->fresh && p->column + apart + width_of(word) > COMMENT_COLUMNS)
		wrap_comment(p);
	buf_adds(p->out, blanks);
	p->column += apart;
	for (size_t i = 0; i < word.n; i++)
		put_byte(p, word.p[i]);
}

static void put_words(struct pen *p, struct str text)
{
	while (text.n) {
		size_t end = str_find(text, ' ', 0);

		put_word(p, " ", str_slice(text, 0, end));
		text = str_slice(text, end + (end < text.n), text.n);
	}
}

void comment_text(struct buf *out, const char *indent, struct str text)
{
	struct pen p = {.out = out, .indent = indent};

	begin_comment(&p, "#");
	put_words(&p, text);
	buf_addc(out, '\n');
}

static void put_place(const struct emit_in *in, struct pen *p, struct str id,
		      const struct ir_origin *from)
{
	struct place at = sources_place(in->sources, from->at);
	struct str name = at.source ? at.source->name : STR("builtin");
	uint32_t line = at.line;

	if (in->places)
		places_find(in->places, id, &name, &line);
	put_word(p, "  ",
		 line ? arena_fmt(in->a, "%.*s:%u", STR_ARG(name), line)
		      : name);
}

void comment_grant(const struct emit_in *in, struct buf *out,
		   const char *indent, const struct ir_grant *g)
{
	struct pen p = {.out = out, .indent = indent};

	begin_comment(&p, "#");
	put_words(&p, str_of(ir_grant_key_name(g->key)));
	put_words(&p, g->canon);
	put_word(&p, "  ", g->id);
	put_place(in, &p, g->id, &g->from);
	buf_addc(out, '\n');
}

void comment_grants(const struct emit_in *in, struct buf *out,
		    const char *indent, const emit_members *of)
{
	for (uint32_t i = 0; i < of->n && i < SHOWN; i++)
		comment_grant(in, out, indent, of->v[i]);
	if (of->n > SHOWN)
		buf_addf(
			out,
			"%s# and %u more, with the same ports and rules: see policy.json\n",
			indent, of->n - SHOWN);
}
