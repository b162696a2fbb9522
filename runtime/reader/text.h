/*
 * Bytes of HTTP/1 that are text: which letters, which words.
 *
 * A view of somebody's buffer, which need not end in a NUL. Never reads beyond
 * it, and knows no locale. What each byte of a head goes through stands here,
 * to be inlined.
 */
#ifndef RUNTIME_READER_TEXT_H
#define RUNTIME_READER_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

struct text {
	const char *p;
	size_t n;
};

static inline bool text_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static inline bool text_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* tchar of RFC 9110, 5.6.2 */
static inline bool text_is_token(unsigned char c)
{
	if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9'))
		return true;
	return c && strchr("!#$%&'*+-.^_`|~", c);
}

/* field-vchar, SP and HTAB: RFC 9110, 5.5 */
static inline bool text_is_value(unsigned char c)
{
	return (c >= ' ' && c != 127) || c == '\t';
}

/* What HAProxy takes in a target. */
static inline bool text_is_target(unsigned char c)
{
	return c > ' ' && c < 127 && c != '#';
}

/* What is behind the first at bytes; at is no more than there are. */
static inline struct text text_from(struct text t, size_t at)
{
	return (struct text){t.p + at, t.n - at};
}

/* How many bytes at the beginning are of that kind. */
static inline size_t text_span(struct text t, bool (*is)(unsigned char c))
{
	size_t n = 0;

	while (n < t.n && is((unsigned char)t.p[n]))
		n++;
	return n;
}

/* How many bytes there are before any of these, or a NUL. */
size_t text_before(struct text t, const char *any);
/* Without blanks at its ends. */
struct text text_trimmed(struct text t);
/* The word, in whatever case. */
static inline bool text_is(struct text t, const char *word)
{
	return t.n == strlen(word) && strncasecmp(t.p, word, t.n) == 0;
}

/* Does a list have the word? RFC 9110, 5.6.1. */
bool text_has_word(struct text list, const char *word);

#endif
