/*
 * A string as pointer and length: any byte but no owner.
 *
 * Views into arenas, sources and literals. They need not end in a NUL; those
 * that arena_str() and buf_str() return do, so that they can go to libraries
 * that want a C string.
 */
#ifndef COMPILER_BASE_STR_H
#define COMPILER_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define must_check __attribute__((warn_unused_result))
/* Of what must be checked and need not be here: say why beside it. */
#define ignore(result)	  ((void)!(result))
#define printf_like(f, a) __attribute__((format(printf, f, a)))
#define ARRAY_LEN(a)	  (sizeof(a) / sizeof((a)[0]))

struct str {
	const char *p;
	size_t n;
};

#define STR(lit) ((struct str){(lit), sizeof(lit) - 1})
/* For static tables, where a compound literal is not a constant. */
#define STR_INIT(lit)                                                          \
	{                                                                      \
		(lit), sizeof(lit) - 1                                         \
	}
/* printf("%.*s", STR_ARG(s)) */
#define STR_ARG(s) (int)(s).n, (s).p

/* Here, so that the length of a literal is known, and most that differ in it
 * are not looked at. */
static inline struct str str_of(const char *cstr)
{
	return (struct str){cstr, strlen(cstr)};
}

static inline bool str_eq(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool str_is(struct str a, const char *cstr)
{
	return str_eq(a, str_of(cstr));
}

/* Bytewise, as memcmp; a prefix sorts first. Never the locale's order. */
int str_cmp(struct str a, struct str b);
bool str_starts(struct str s, struct str prefix);
bool str_ends(struct str s, struct str suffix);
/* beg and end are clamped to the length. */
struct str str_slice(struct str s, size_t beg, size_t end);
/* Index of the first c at or after from, or s.n. */
size_t str_find(struct str s, char c, size_t from);
/* Blanks and tabs off both ends. */
struct str str_trim(struct str s);
/* A path without one slash at its end. */
struct str str_unslashed(struct str path);
/* What a path lies in: up to its last '/', without it; else empty. */
struct str str_parent(struct str path);
/*
 * Take the next line off *rest, without its LF. False when nothing is left.
 */
bool str_line(struct str *rest, struct str *out_line);
/*
 * Take the next field off *rest, up to sep, which is dropped. False when
 * *rest is empty.
 */
bool str_field(struct str *rest, char sep, struct str *out_field);
/* Decimal digits only, no sign, no blank, at most max; else false. */
bool str_u64(struct str s, uint64_t max, uint64_t *out);
/* Length of the UTF-8 sequence at s.p[at] (RFC 3629, section 4), or 0. */
size_t str_utf8(struct str s, size_t at);
/* The three bytes of U+202A-202E or U+2066-2069: they make a reviewer see
 * another order. No byte is looked at behind one that says no. */
bool str_is_bidi(const unsigned char *p);
/* UTF-8, and no control character of ASCII's. */
bool str_printable(struct str s);
/*
 * Edit distance (insert, delete, replace, swap of neighbours) of two short
 * strings, for "did you mean"; limit + 1 when it is more than limit.
 */
unsigned str_distance(struct str a, struct str b, unsigned limit);

#endif
