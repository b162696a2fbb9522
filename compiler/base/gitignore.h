/*
 * gitignore patterns: parse once, match many paths.
 *
 * gitignore(5), as doc/semantics.md, section 5 has it: a pattern without a
 * slash in its middle matches a base name at any depth, one with a slash is
 * anchored at the root, a trailing slash means directories only, `*` and `?`
 * stay within a segment, `**` crosses, `[a-z]` and backslash escapes work, `!`
 * takes back, later patterns win. Bytes, not characters; no locale.
 */
#ifndef COMPILER_BASE_GITIGNORE_H
#define COMPILER_BASE_GITIGNORE_H

#include "compiler/base/arena.h"

enum gitignore_fault {
	GITIGNORE_OK,
	GITIGNORE_BLANK,   /* empty or a comment: nothing to match */
	GITIGNORE_CLASS,   /* '[' without its ']' */
	GITIGNORE_ESCAPE,  /* a backslash at the end */
	GITIGNORE_CONTROL, /* a control byte */
	GITIGNORE_ABOVE,   /* a '.' or '..' segment, or '//' */
};

struct gitignore; /* a compiled list */

struct gitignore *gitignore_new(struct arena *a);
/*
 * Append one line. *out_at, when not NULL, is the offset of the fault in the
 * line. A faulty line is not appended.
 */
enum gitignore_fault gitignore_add(struct gitignore *g, struct str line,
				   size_t *out_at);
const char *gitignore_fault_text(enum gitignore_fault f);

enum gitignore_verdict {
	GITIGNORE_NONE, /* no pattern speaks of the path */
	GITIGNORE_MATCH,
	GITIGNORE_BACK, /* the last that matches takes it back */
};

/*
 * Judge one path relative to the root, segments separated by single slashes,
 * none at either end. Only the path itself: that a parent matched is for the
 * caller to carry down. *out_index, when not NULL: the pattern that decided,
 * counted from 0 among those added.
 */
enum gitignore_verdict gitignore_match(const struct gitignore *g,
				       struct str path, bool is_dir,
				       uint32_t *out_index);
/*
 * The patterns that are not anchored, which a base name decides alone, as a
 * list of their own: its indices are those of g. In the arena of g, and valid
 * as long as nothing is added to either.
 */
struct gitignore *gitignore_unanchored(const struct gitignore *g);
/* How many patterns were added. */
uint32_t gitignore_count(const struct gitignore *g);

/*
 * A pattern taken apart, for who reasons about all paths at once. What is not
 * anchored is matched with base names; marks and slashes at the ends are off.
 */
enum gitignore_token_kind {
	GITIGNORE_BYTE,
	GITIGNORE_ANY,	/* ?: one byte, no slash */
	GITIGNORE_SET,	/* [...]: never a slash */
	GITIGNORE_STAR, /* *: bytes of one segment */
	GITIGNORE_DIRS, /* **\/: no or more whole segments, each with its slash
			 */
	GITIGNORE_REST, /* ** at the end: everything */
};
struct gitignore_token {
	enum gitignore_token_kind kind;
	uint8_t byte;
	uint64_t bits[4]; /* of a set, one per byte value */
};
struct gitignore_shape {
	bool back, dir_only, anchored;
	uint32_t n; /* tokens */
};
/* By the index that gitignore_match() answers with. */
struct gitignore_shape gitignore_shape(const struct gitignore *g,
				       uint32_t index);
struct gitignore_token gitignore_token(const struct gitignore *g,
				       uint32_t index, uint32_t at);

#endif
