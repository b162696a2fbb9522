/*
 * One gitignore pattern: read, and matched with one path. Lists of them, where
 * the last that matches decides, are gitignore.h's.
 */
#ifndef COMPILER_BASE_PATTERN_H
#define COMPILER_BASE_PATTERN_H

#include "compiler/base/gitignore.h"

/*
 * A pattern becomes one of three things. Most are a literal or `*` and a
 * literal, and are found by a hash of the base name; the rest are token
 * lists, tried one by one. An anchored literal is filed under its base name.
 */
enum pattern_kind {
	PATTERN_LITERAL, /* lit is the base name, or the path when anchored */
	PATTERN_SUFFIX,	 /* the base name ends in lit */
	PATTERN_GLOB,	 /* lit is what the subject starts with */
};

/* One bit per byte value. */
struct pattern_set {
	uint64_t bits[4];
};

struct pattern_token {
	enum gitignore_token_kind kind;
	uint8_t byte;
	uint32_t set; /* index in pattern.sets */
};

struct pattern {
	enum pattern_kind kind;
	bool back, dir_only, anchored;
	struct str lit;
	VEC(struct pattern_token) tokens;
	VEC(struct pattern_set) sets;
	uint32_t hash; /* what it is filed under, unless it is a glob */
	/* The list's. */
	uint32_t index;
	struct pattern *next; /* in its bucket: older patterns */
};

/* *out_at: the offset of the fault in the line; *out is only then not set. */
enum gitignore_fault pattern_read(struct arena *a, struct str line,
				  size_t *out_at, struct pattern **out);
/* base: the path's base name. Whether it is a folder is the caller's. */
bool pattern_match(const struct pattern *pt, struct str path, struct str base);
/* Is it found by its hash, of a base name or of the ".ext" of one? */
bool pattern_is_filed(const struct pattern *pt);

/* Where the base name begins. */
size_t pattern_base(struct str path);
/* ".ext" of a base name; empty when it has no dot. */
struct str pattern_extension(struct str base);

#endif
