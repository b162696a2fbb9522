#include "runtime/launch/attach/modes.h"

#include "compiler/base/limits.h"

#define NUMBER_MAX 99999u

enum state { TEXT, ESCAPE, BRACKET, PRIVATE };

/*
 * In the order of switching on. Shown is the cursor usually, everything else
 * off; 1049 first: what follows is then of the other screen.
 */
static const struct {
	uint32_t number;
	bool usual;
} known[] = {
	{1049, false}, {1047, false}, {47, false},   {1, false},
	{25, true},    {1000, false}, {1002, false}, {1003, false},
	{1004, false}, {1005, false}, {1006, false}, {1015, false},
	{1016, false}, {2004, false},
};

static void set_modes(struct modes *m, bool high)
{
	for (unsigned k = 0; k < m->n_seen; k++)
		for (unsigned i = 0; i < ARRAY_LEN(known); i++) {
			if (known[i].number != m->seen[k])
				continue;
			if (high == known[i].usual)
				m->on &= ~(1u << i);
			else
				m->on |= 1u << i;
		}
}

static void end_number(struct modes *m)
{
	if (m->n_seen < ARRAY_LEN(m->seen))
		m->seen[m->n_seen++] = m->number;
	m->number = 0;
}

/* In "ESC [ ?": numbers with semicolons, then what is done with them. */
static void take_private(struct modes *m, char c)
{
	if (c >= '0' && c <= '9') {
		m->number = m->number * 10 + (uint32_t)(c - '0');
		if (m->number > NUMBER_MAX)
			m->number = NUMBER_MAX;
		return;
	}
	end_number(m);
	if (c == ';')
		return;
	if (c == 'h' || c == 'l')
		set_modes(m, c == 'h');
	m->state = TEXT;
}

static void take_char(struct modes *m, char c)
{
	if (c == '\033') { /* also ends one that was not finished */
		m->state = ESCAPE;
		return;
	}
	switch ((enum state)m->state) {
	case TEXT:
		return;
	case ESCAPE:
		if (c == 'c') /* a full reset */
			m->on = 0;
		m->state = c == '[' ? BRACKET : TEXT;
		return;
	case BRACKET:
		m->state = c == '?' ? PRIVATE : TEXT;
		m->number = m->n_seen = 0;
		return;
	case PRIVATE:
		take_private(m, c);
		return;
	}
}

void modes_take(struct modes *m, struct str printed)
{
	for (size_t i = 0; i < printed.n; i++)
		take_char(m, printed.p[i]);
}

void modes_enter(uint32_t on, struct buf *out)
{
	for (unsigned i = 0; i < ARRAY_LEN(known); i++)
		if (on & 1u << i)
			buf_addf(out, "\033[?%u%c", known[i].number,
				 known[i].usual ? 'l' : 'h');
}

void modes_leave(uint32_t on, struct buf *out)
{
	for (unsigned i = ARRAY_LEN(known); i-- > 0;)
		if (on & 1u << i)
			buf_addf(out, "\033[?%u%c", known[i].number,
				 known[i].usual ? 'h' : 'l');
	if (on)
		buf_adds(out, "\033[0m");
}
