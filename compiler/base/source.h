/*
 * The texts a policy was written in, and places in them.
 *
 * All sources of one compile share one address space, so a span of eight bytes
 * says which file it is in as well; line and column are worked out only when
 * something is printed. Offset 0 belongs to no source: the zero span means
 * "nowhere".
 */
#ifndef COMPILER_BASE_SOURCE_H
#define COMPILER_BASE_SOURCE_H

#include "compiler/base/arena.h"

/* Bytes beg up to, not including, end. */
struct span {
	uint32_t beg, end;
};

/* In the order in which they apply; doc/semantics.md, section 1. */
enum layer {
	LAYER_FLOOR,
	LAYER_PRESET,
	LAYER_GLOBAL,
	LAYER_WORKSPACE,
	LAYER_FLAGS,
	LAYER_SESSION, /* changed while it ran */
};

const char *layer_name(enum layer layer); /* "floor", "preset", … */

/* What the name of a text begins with that comes with membrane. */
#define SOURCE_PRESET "preset:"
/* The bound of a session that learns, a word of --within on each line; and,
 * with a blank behind it, such a text that is part of the bound. */
#define SOURCE_WITHIN "--within"

struct source {
	struct str name; /* as users know it; never an absolute path */
	struct str text;
	uint32_t base; /* offset of its first byte */
	enum layer layer;
	bool derived;	     /* of a plan: LIMIT_DERIVED_BYTES holds */
	VEC(uint32_t) lines; /* offset of each line's first byte in text */
};

struct sources {
	struct arena *a;
	VEC(struct source) list;
	uint32_t end; /* first free offset */
};

/* A place as people read it: both count from 1, column in bytes. */
struct place {
	const struct source *source; /* NULL for the zero span */
	uint32_t line, column;
	struct str text; /* the whole line, without its end */
};

void sources_init(struct sources *s, struct arena *a);
/*
 * Add a text; name and text are borrowed. The returned pointer is valid until
 * the next addition: keep the index (list.n - 1) or a span instead.
 */
const struct source *sources_add(struct sources *s, struct str name,
				 struct str text, enum layer layer);
bool source_is_preset(const struct source *s);
/* The source a span lies in, or NULL. */
const struct source *sources_of(const struct sources *s, struct span at);
struct place sources_place(const struct sources *s, struct span at);
/* The first source of that name, or NULL. */
const struct source *sources_named(const struct sources *s, struct str name);
/* The bytes under a span. */
struct str sources_text(const struct sources *s, struct span at);

#endif
