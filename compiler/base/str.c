#include "compiler/base/str.h"

int str_cmp(struct str a, struct str b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int c = n ? memcmp(a.p, b.p, n) : 0;

	if (c)
		return c;
	return a.n < b.n ? -1 : a.n > b.n;
}

bool str_starts(struct str s, struct str prefix)
{
	return s.n >= prefix.n && str_eq((struct str){s.p, prefix.n}, prefix);
}

bool str_ends(struct str s, struct str suffix)
{
	return s.n >= suffix.n &&
	       str_eq((struct str){s.p + (s.n - suffix.n), suffix.n}, suffix);
}

struct str str_slice(struct str s, size_t beg, size_t end)
{
	if (end > s.n)
		end = s.n;
	if (beg > end)
		beg = end;
	/* Nowhere plus nothing is not defined in C. */
	return (struct str){beg ? s.p + beg : s.p, end - beg};
}

size_t str_find(struct str s, char c, size_t from)
{
	const char *hit;

	if (from >= s.n)
		return s.n;
	hit = memchr(s.p + from, c, s.n - from);
	return hit ? (size_t)(hit - s.p) : s.n;
}

struct str str_unslashed(struct str path)
{
	path.n -= str_ends(path, STR("/"));
	return path;
}

struct str str_parent(struct str path)
{
	while (path.n && path.p[path.n - 1] != '/')
		path.n--;
	path.n -= path.n > 0;
	return path;
}

struct str str_trim(struct str s)
{
	while (s.n && (s.p[0] == ' ' || s.p[0] == '\t'))
		s = str_slice(s, 1, s.n);
	while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t'))
		s.n--;
	return s;
}

bool str_line(struct str *rest, struct str *out_line)
{
	return str_field(rest, '\n', out_line);
}

bool str_field(struct str *rest, char sep, struct str *out_field)
{
	size_t end;

	if (rest->n == 0)
		return false;
	end = str_find(*rest, sep, 0);
	*out_field = str_slice(*rest, 0, end);
	*rest = str_slice(*rest, end + 1, rest->n);
	return true;
}

bool str_u64(struct str s, uint64_t max, uint64_t *out)
{
	uint64_t v = 0;

	if (s.n == 0 || s.n > 20)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		unsigned d = (unsigned char)s.p[i] - (unsigned)'0';

		if (d > 9 || v > (max - d) / 10 || d > max)
			return false;
		v = v * 10 + d;
	}
	*out = v;
	return true;
}

bool str_is_bidi(const unsigned char *p)
{
	return p[0] == 0xe2 &&
	       ((p[1] == 0x80 && p[2] >= 0xaa && p[2] <= 0xae) ||
		(p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9));
}

size_t str_utf8(struct str s, size_t at)
{
	const unsigned char *p = (const unsigned char *)s.p + at;
	size_t left = s.n - at, n;

	if (p[0] < 0x80)
		return 1;
	n = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	if (p[0] < 0xc2 || p[0] > 0xf4 || n > left)
		return 0;
	for (size_t k = 1; k < n; k++)
		if ((p[k] & 0xc0) != 0x80)
			return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return n;
}

bool str_printable(struct str s)
{
	for (size_t at = 0, n; at < s.n; at += n) {
		unsigned char c = (unsigned char)s.p[at];

		n = str_utf8(s, at);
		if (n == 0 || c < ' ' || c == 0x7f)
			return false;
	}
	return true;
}

/* Longest strings that "did you mean" looks at; keys and events are shorter. */
#define DISTANCE_MAX 48

unsigned str_distance(struct str a, struct str b, unsigned limit)
{
	unsigned row[3][DISTANCE_MAX + 1];
	unsigned *older = row[0], *old = row[1], *now = row[2];

	if (a.n > DISTANCE_MAX || b.n > DISTANCE_MAX)
		return limit + 1;
	for (unsigned j = 0; j <= b.n; j++)
		old[j] = j;
	for (unsigned i = 1; i <= a.n; i++) {
		unsigned *tmp = older;

		now[0] = i;
		for (unsigned j = 1; j <= b.n; j++) {
			unsigned same = a.p[i - 1] == b.p[j - 1];
			unsigned best = old[j - 1] + !same;

			if (old[j] + 1 < best)
				best = old[j] + 1;
			if (now[j - 1] + 1 < best)
				best = now[j - 1] + 1;
			if (i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] &&
			    a.p[i - 2] == b.p[j - 1] && older[j - 2] + 1 < best)
				best = older[j - 2] + 1;
			now[j] = best;
		}
		older = old;
		old = now;
		now = tmp;
	}
	return old[b.n] > limit ? limit + 1 : old[b.n];
}
