/*
 * Letters and digits of ASCII, whatever the locale says.
 */
#ifndef COMPILER_BASE_ASCII_H
#define COMPILER_BASE_ASCII_H

#include "compiler/base/buf.h"

static inline bool ascii_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool ascii_is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static inline bool ascii_is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static inline bool ascii_is_alnum(char c)
{
	return ascii_is_digit(c) || ascii_is_lower(c) || ascii_is_upper(c);
}

/* Nothing but ASCII; the empty string, too. */
bool ascii_is(struct str s);
/* RFC 3986, section 2.3: what a URL never needs to escape. */
bool ascii_is_unreserved(char c);
/* As the value of a name in a URL or a form: RFC 3986, section 2.1. */
void ascii_escape(struct buf *b, const char *s);
/* Of a hexadecimal digit in either case: 0 to 15; -1 when it is none. */
int ascii_hex(char c);
/* Two digits in lower case for each byte, and a NUL: 2 * n + 1 of out. */
void ascii_put_hex(const void *bytes, size_t n, char *out);
/* Hexadecimal digits in lower case, one at least. */
bool ascii_is_hex(struct str s);
/* A token of RFC 9110, section 5.6.2: a method, the name of a header. */
bool ascii_is_token(struct str s);
/* Is s one of the names? Letters count as the same in either case. */
bool ascii_is_any(struct str s, const char *const *names, size_t n);
#define ASCII_IS_ANY(s, ...)                                                   \
	ascii_is_any((s), (const char *const[]){__VA_ARGS__},                  \
		     ARRAY_LEN(((const char *const[]){__VA_ARGS__})))
/* Copies in the arena, with a NUL behind; other bytes stay as they are. */
struct str ascii_lower(struct arena *a, struct str s);
struct str ascii_upper(struct arena *a, struct str s);

#endif
