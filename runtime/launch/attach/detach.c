#include "runtime/launch/attach/detach.h"

#include <string.h>

static bool parse_key(struct str key, unsigned char *out)
{
	static const char above[] = "[\\]^_";
	const char *at;

	if (key.n == 1 && (unsigned char)key.p[0] < 0x80) {
		*out = (unsigned char)key.p[0];
		return true;
	}
	if (!str_starts(key, STR("ctrl-")) || key.n != 6)
		return false;
	if (key.p[5] >= 'a' && key.p[5] <= 'z') {
		*out = (unsigned char)(key.p[5] - 'a' + 1);
		return true;
	}
	at = key.p[5] ? strchr(above, key.p[5]) : NULL;
	if (at)
		*out = (unsigned char)(0x1b + (at - above));
	else if (key.p[5] == '@')
		*out = 0;
	return at || key.p[5] == '@';
}

bool detach_parse(struct str text, struct detach *out)
{
	struct detach d = {0};
	struct str key;

	if (text.n == 0 || text.p[text.n - 1] == ',')
		return false;
	while (str_field(&text, ',', &key)) {
		if (d.n == DETACH_MAX || !parse_key(key, &d.keys[d.n]))
			return false;
		d.n++;
	}
	*out = d;
	return true;
}

/*
 * After a key that is not the next one: how many of those held back, with it,
 * begin the keys anew.
 */
static size_t begin_anew(const struct detach *d, unsigned char c)
{
	for (size_t n = d->matched; n > 0; n--)
		if (d->keys[n - 1] == c &&
		    memcmp(d->keys, d->keys + d->matched - (n - 1), n - 1) == 0)
			return n;
	return 0;
}

bool detach_take(struct detach *d, struct str typed, char *out, size_t *out_n)
{
	size_t n = 0;

	*out_n = 0;
	for (size_t i = 0; i < typed.n; i++) {
		unsigned char c = (unsigned char)typed.p[i];
		size_t again;

		if (c == d->keys[d->matched]) {
			if (++d->matched < d->n)
				continue;
			d->matched = 0;
			*out_n = n;
			return true;
		}
		again = begin_anew(d, c);
		/* held back are keys[0..matched): what no longer is goes on */
		for (size_t k = 0; k < d->matched + 1 - again; k++)
			out[n++] = (char)(k < d->matched ? d->keys[k] : c);
		d->matched = again;
	}
	*out_n = n;
	return false;
}
