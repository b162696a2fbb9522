/*
 * Text in mdoc(7): no part of it is a request, a macro or an escape.
 */
#include "compiler/cli/frame/parts.h"

static void put_character(struct buf *out, char c)
{
	if (c == '\\')
		buf_adds(out, "\\e");
	else if (c == '-')
		buf_adds(out, "\\-");
	else if (c == '~')
		buf_adds(out, "\\(ti");
	else if (c == '\'')
		buf_adds(out, "\\(aq");
	else
		buf_addc(out, c);
}

void man_text(struct buf *out, const char *s)
{
	if (*s == '.')
		buf_adds(out, "\\&");
	for (; *s; s++)
		put_character(out, *s);
}

/* Macros' own names, blanks and delimiters in it are text, too. */
void man_argument(struct buf *out, const char *s)
{
	buf_adds(out, "\"\\&");
	for (; *s; s++)
		if (*s == '"')
			buf_adds(out, "\\(dq");
		else
			put_character(out, *s);
	buf_addc(out, '"');
}
