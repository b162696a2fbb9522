#include "runtime/reader/text.h"

#include <string.h>
#include <strings.h>

bool text_is_token(unsigned char c)
{
	if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9'))
		return true;
	return c && strchr("!#$%&'*+-.^_`|~", c);
}

bool text_is_value(unsigned char c)
{
	return (c >= ' ' && c != 127) || c == '\t';
}

bool text_is_target(unsigned char c)
{
	return c > ' ' && c < 127 && c != '#';
}

size_t text_span(struct text t, bool (*is)(unsigned char c))
{
	size_t n = 0;

	while (n < t.n && is((unsigned char)t.p[n]))
		n++;
	return n;
}

size_t text_before(struct text t, const char *any)
{
	size_t n = 0;

	while (n < t.n && !strchr(any, t.p[n]))
		n++;
	return n;
}

struct text text_trimmed(struct text t)
{
	while (t.n && text_is_blank(t.p[0]))
		t = text_from(t, 1);
	while (t.n && text_is_blank(t.p[t.n - 1]))
		t.n--;
	return t;
}

bool text_is(struct text t, const char *word)
{
	return t.n == strlen(word) && strncasecmp(t.p, word, t.n) == 0;
}

bool text_has_word(struct text list, const char *word)
{
	while (list.n) {
		size_t n = text_before(list, ",");

		if (text_is(text_trimmed((struct text){list.p, n}), word))
			return true;
		list = text_from(list, n < list.n ? n + 1 : n);
	}
	return false;
}
