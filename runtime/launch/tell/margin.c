#include "runtime/launch/tell/margin.h"

/* What begins with ESC, and how it ends: ECMA-48. */
enum state {
	TEXT,
	ESCAPE,	    /* after ESC */
	CONTROL,    /* after ESC [ */
	STRING,	    /* after ESC ] and its like: a title, say */
	STRING_END, /* and an ESC in there */
};

static bool is_within(char c, unsigned char low, unsigned char high)
{
	return (unsigned char)c >= low && (unsigned char)c <= high;
}

static bool begins_string(char c)
{
	return c == ']' || c == 'P' || c == 'X' || c == '^' || c == '_';
}

/* Colours, to the end of the line, modes: nothing moves. */
static bool leaves_line(char c)
{
	return c == 'm' || c == 'K' || c == 'h' || c == 'l';
}

static void take_text(struct margin *m, char c)
{
	if (c == '\n')
		m->in_line = false;
	else if (c == '\t' || c == '\b' || c == '\v' || c == '\f' ||
		 (!is_within(c, 0, 0x1f) && c != 0x7f))
		m->in_line = true;
}

static void take_escape(struct margin *m, char c)
{
	if (is_within(c, 0x20, 0x2f)) /* one more is to come */
		return;
	m->state = c == '['	       ? CONTROL
		   : begins_string(c) ? STRING
				       : TEXT;
	m->in_line |= c == 'D' || c == 'E' || c == 'M' || c == '8';
}

static void take_char(struct margin *m, char c)
{
	switch ((enum state)m->state) {
	case TEXT:
		if (c == '\033')
			m->state = ESCAPE;
		else
			take_text(m, c);
		return;
	case ESCAPE:
		take_escape(m, c);
		return;
	case CONTROL:
		if (!is_within(c, 0x40, 0x7e))
			return;
		m->state = TEXT;
		m->in_line |= !leaves_line(c);
		return;
	case STRING:
		m->state = c == '\a'	 ? TEXT
			   : c == '\033' ? STRING_END
					 : STRING;
		return;
	case STRING_END:
		m->state = c == '\\'	 ? TEXT
			   : c == '\033' ? STRING_END
					 : STRING;
		return;
	}
}

size_t margin_take(struct margin *m, struct str text, bool one_line)
{
	for (size_t i = 0; i < text.n; i++) {
		take_char(m, text.p[i]);
		if (one_line && text.p[i] == '\n' && margin_is_free(m))
			return i + 1;
	}
	return text.n;
}

bool margin_is_free(const struct margin *m)
{
	return m->state == TEXT && !m->in_line;
}

void margin_set_free(struct margin *m)
{
	*m = (struct margin){0};
}
