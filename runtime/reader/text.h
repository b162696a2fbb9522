/*
 * Bytes of HTTP/1 that are text: which letters, which words.
 *
 * A view of somebody's buffer, which need not end in a NUL. Never reads beyond
 * it, and knows no locale.
 */
#ifndef RUNTIME_READER_TEXT_H
#define RUNTIME_READER_TEXT_H

#include <stdbool.h>
#include <stddef.h>

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
bool text_is_token(unsigned char c);
/* field-vchar, SP and HTAB: RFC 9110, 5.5 */
bool text_is_value(unsigned char c);
/* What HAProxy takes in a target. */
bool text_is_target(unsigned char c);

/* What is behind the first at bytes; at is no more than there are. */
static inline struct text text_from(struct text t, size_t at)
{
	return (struct text){t.p + at, t.n - at};
}

/* How many bytes at the beginning are of that kind. */
size_t text_span(struct text t, bool (*is)(unsigned char c));
/* How many bytes there are before any of these, or a NUL. */
size_t text_before(struct text t, const char *any);
/* Without blanks at its ends. */
struct text text_trimmed(struct text t);
/* The word, in whatever case. */
bool text_is(struct text t, const char *word);
/* Does a list have the word? RFC 9110, 5.6.1. */
bool text_has_word(struct text list, const char *word);

#endif
