#include "runtime/reader/text.h"

#include <string.h>

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
