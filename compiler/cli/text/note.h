/*
 * A note that a terminal shows of a program whose window nobody looks at: by
 * OSC 9 or OSC 777 where the terminal has one of them, else its bell. Pure.
 */
#ifndef COMPILER_CLI_TEXT_NOTE_H
#define COMPILER_CLI_TEXT_NOTE_H

#include "compiler/base/arena.h"

#define NOTE_MAX 160u /* bytes of its text */

enum note_way {
	NOTE_NONE,
	NOTE_BELL, /* of a multiplexer, too, which marks the window */
	NOTE_OSC_9,
	NOTE_OSC_777,
};

/* What the variables of that terminal say; lookup is getenv(3), or a test's. */
enum note_way note_way_of(char *(*lookup)(const char *name));
/* text may be anybody's: printable ASCII is left of it, and no semicolon. */
struct str note_bytes(struct arena *a, enum note_way way, struct str text);

#endif
