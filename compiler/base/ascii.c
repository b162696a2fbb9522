#include "compiler/base/ascii.h"

#include <string.h>

bool ascii_is(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] >= 0x80)
			return false;
	return true;
}

bool ascii_is_unreserved(char c)
{
	return ascii_is_alnum(c) || c == '-' || c == '.' || c == '_' ||
	       c == '~';
}

void ascii_escape(struct buf *b, const char *s)
{
	for (; *s; s++) {
		if (ascii_is_unreserved(*s))
			buf_addc(b, *s);
		else
			buf_addf(b, "%%%02X", (unsigned char)*s);
	}
}

int ascii_hex(char c)
{
	if (ascii_is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool ascii_is_hex(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (ascii_hex(s.p[i]) < 0 || ascii_is_upper(s.p[i]))
			return false;
	return s.n > 0;
}

bool ascii_is_token(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!ascii_is_alnum(s.p[i]) &&
		    !memchr("!#$%&'*+-.^_`|~", s.p[i], 15))
			return false;
	return s.n > 0;
}

static char lower(char c)
{
	return ascii_is_upper(c) ? (char)(c - 'A' + 'a') : c;
}

static bool is_same(struct str s, struct str name)
{
	for (size_t i = 0; i < s.n && i < name.n; i++)
		if (lower(s.p[i]) != lower(name.p[i]))
			return false;
	return s.n == name.n;
}

bool ascii_is_any(struct str s, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (is_same(s, str_of(names[i])))
			return true;
	return false;
}

void ascii_put_hex(const void *bytes, size_t n, char *out)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *b = bytes;

	for (size_t i = 0; i < n; i++) {
		out[2 * i] = digits[b[i] >> 4];
		out[2 * i + 1] = digits[b[i] & 15];
	}
	out[2 * n] = '\0';
}

struct str ascii_lower(struct arena *a, struct str s)
{
	char *p = arena_cstr(a, s);

	for (size_t i = 0; i < s.n; i++)
		p[i] = lower(p[i]);
	return (struct str){p, s.n};
}

struct str ascii_upper(struct arena *a, struct str s)
{
	char *p = arena_cstr(a, s);

	for (size_t i = 0; i < s.n; i++)
		if (ascii_is_lower(p[i]))
			p[i] = (char)(p[i] - 'a' + 'A');
	return (struct str){p, s.n};
}
