#include "compiler/cli/text/note.h"

#include "compiler/base/buf.h"

#include <string.h>

/* Whose manual has which; both would be two notes. */
static const struct {
	const char *variable, *begins;
	enum note_way way;
} terminals[] = {
	/* what is in the way passes neither on */
	{"TERM", "tmux", NOTE_BELL},
	{"TERM", "screen", NOTE_BELL},
	{"TMUX", "", NOTE_BELL},
	{"STY", "", NOTE_BELL},
	{"TERM_PROGRAM", "iTerm", NOTE_OSC_9},
	{"TERM_PROGRAM", "WezTerm", NOTE_OSC_9},
	{"TERM_PROGRAM", "ghostty", NOTE_OSC_9},
	{"TERM", "xterm-ghostty", NOTE_OSC_9},
	{"TERM", "xterm-kitty", NOTE_OSC_9},
	{"TERM", "foot", NOTE_OSC_777},
	{"TERM", "rxvt-unicode", NOTE_OSC_777},
	{"VTE_VERSION", "", NOTE_OSC_777},
};

enum note_way note_way_of(char *(*lookup)(const char *name))
{
	const char *term = lookup("TERM");

	if (!term || !*term || strcmp(term, "dumb") == 0)
		return NOTE_NONE;
	for (size_t i = 0; i < ARRAY_LEN(terminals); i++) {
		const char *is = lookup(terminals[i].variable);

		if (is && *is &&
		    strncmp(is, terminals[i].begins,
			    strlen(terminals[i].begins)) == 0)
			return terminals[i].way;
	}
	return NOTE_BELL;
}

/* A semicolon parts the fields of OSC 777. */
static struct str plain_text(struct arena *a, struct str text)
{
	struct buf b;

	buf_init(&b, a);
	for (size_t i = 0; i < text.n && b.n < NOTE_MAX; i++)
		buf_addc(&b, text.p[i] == ';'		       ? ','
			     : text.p[i] < ' ' || text.p[i] > '~' ? '?'
								    : text.p[i]);
	return buf_str(&b);
}

struct str note_bytes(struct arena *a, enum note_way way, struct str text)
{
	struct str plain = plain_text(a, text);

	switch (way) {
	case NOTE_NONE:
		return (struct str){0};
	case NOTE_BELL:
		return STR("\a");
	case NOTE_OSC_9:
		return arena_fmt(a, "\033]9;membrane: %.*s\033\\",
				 STR_ARG(plain));
	case NOTE_OSC_777:
		return arena_fmt(a, "\033]777;notify;membrane;%.*s\033\\",
				 STR_ARG(plain));
	}
	return (struct str){0};
}
