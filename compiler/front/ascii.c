#include "compiler/front/ascii.h"

#include <string.h>

bool ascii_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool ascii_is_alnum(char c)
{
	return ascii_is_digit(c) || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z');
}

bool ascii_is_token(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!ascii_is_alnum(s.p[i]) &&
		    !memchr("!#$%&'*+-.^_`|~", s.p[i], 15))
			return false;
	return s.n > 0;
}

struct str ascii_lower(struct arena *a, struct str s)
{
	char *p = arena_cstr(a, s);

	for (size_t i = 0; i < s.n; i++)
		if (p[i] >= 'A' && p[i] <= 'Z')
			p[i] = (char)(p[i] - 'A' + 'a');
	return (struct str){p, s.n};
}

struct str ascii_upper(struct arena *a, struct str s)
{
	char *p = arena_cstr(a, s);

	for (size_t i = 0; i < s.n; i++)
		if (p[i] >= 'a' && p[i] <= 'z')
			p[i] = (char)(p[i] - 'a' + 'A');
	return (struct str){p, s.n};
}
