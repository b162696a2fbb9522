/*
 * Text for a terminal: rows with something at the right edge, paragraphs
 * wrapped at a width, colour only where it is wanted.
 *
 * Whatever came from a policy or a command line goes through view_clean(), so
 * that no file in a cloned repository writes to somebody's terminal.
 */
#ifndef COMPILER_CLI_TEXT_VIEW_H
#define COMPILER_CLI_TEXT_VIEW_H

#include "compiler/base/buf.h"
#include "compiler/base/source.h"

struct view {
	struct buf *out;
	unsigned width; /* columns */
	bool colour;
};

enum view_paint {
	VIEW_PLAIN,
	VIEW_TITLE,
	VIEW_DIM,
	VIEW_GOOD,
	VIEW_BAD,
	VIEW_WARN,
};

/*
 * Append s: control bytes, bytes that are not UTF-8, and characters that are
 * invisible or reorder the line (bidirectional controls, zero-width ones) as
 * \xNN; secrets as '*'.
 */
void view_clean(struct buf *out, struct str s);
struct str view_cleaned(struct arena *a, struct str s);
/* Columns of a cleaned text: one per code point. */
unsigned view_columns(struct str clean);
/* Its first columns. */
struct str view_cut(struct str clean, unsigned columns);
/* The whole of it, or its first columns, the last of them '…'. */
struct str view_fit(struct arena *a, struct str clean, unsigned columns);
/* Append in a colour. */
void view_paint(const struct view *v, enum view_paint paint, struct str s);
/*
 * One row: indent blanks, the text, and right at the right edge when it fits,
 * else on a line of its own. Too long a text is broken at the width and goes
 * on two columns further in.
 */
void view_row(const struct view *v, unsigned indent, enum view_paint paint,
	      struct str text, struct str right);
/*
 * A paragraph, broken at blanks; hang is the indent of all lines but the
 * first, which goes on where the line is.
 */
void view_wrap(const struct view *v, unsigned indent, unsigned hang,
	       struct str text);
/* A paragraph of a section: two blanks before each of its lines. */
void view_paragraph(const struct view *v, struct str text);
/* An empty line and a section's title, with a count at the right edge unless
 * unit is NULL. An 's' is put behind the unit where it belongs. */
void view_title(const struct view *v, const char *title, uint64_t count,
		const char *unit);
/*
 * Long lists are folded: beyond VIEW_WHOLE items only the first VIEW_FOLDED.
 * True, after a line that says how many more there are, when item i of n is
 * the first that is left out. view_more() is for commands that have --json;
 * all: what else the line says of the way to see all; NULL: there is none.
 */
#define VIEW_WHOLE    64u
#define VIEW_FOLDED   12u
#define VIEW_ALL_JSON "--json lists all"
bool view_more(const struct view *v, unsigned indent, uint64_t i, uint64_t n);
bool view_more_by(const struct view *v, unsigned indent, uint64_t i, uint64_t n,
		  const char *all);
/*
 * A place as people read it: "file:line"; a source without lines to open, the
 * command line or what is built in, by its name; empty for nowhere. Cleaned.
 */
struct str view_source(struct arena *a, const struct sources *s,
		       struct span at);
/* 12345 as "12,345". */
struct str view_number(struct arena *a, uint64_t n);
/* A word for a shell, in quotes where it needs them. */
void view_shell_word(struct buf *out, struct str word);

#endif
