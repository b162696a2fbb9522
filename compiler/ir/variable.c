#include "compiler/ir/variable.h"

#include "compiler/base/ascii.h"

static bool is_of_name(char c, bool first)
{
	return c == '_' || (ascii_is_alnum(c) && !(first && ascii_is_digit(c)));
}

size_t variable_at(struct str s, size_t i, struct str *out_name)
{
	bool braces = i + 1 < s.n && s.p[i + 1] == '{';
	size_t beg = i + 1 + braces, end = beg;

	if (i + 1 < s.n && s.p[i + 1] == '$') {
		*out_name = (struct str){0};
		return 2;
	}
	while (end < s.n && is_of_name(s.p[end], end == beg))
		end++;
	if (end == beg || (braces && (end >= s.n || s.p[end] != '}')))
		return 0;
	*out_name = str_slice(s, beg, end);
	return end + braces - i;
}
