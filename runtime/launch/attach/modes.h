/*
 * Which modes of a terminal a program has switched on, from what it printed.
 *
 * So that somebody who joins a full-screen program gets the screen that it
 * believes to have, and somebody who leaves gets his own back. Of all control
 * sequences only the private modes below are looked at.
 * ECMA-48; xterm's ctlseqs, "DEC Private Mode Set".
 */
#ifndef RUNTIME_LAUNCH_ATTACH_MODES_H
#define RUNTIME_LAUNCH_ATTACH_MODES_H

#include "compiler/base/buf.h"

#include <stdint.h>

struct modes {
	uint32_t on; /* a bit for each known mode that is not as usual */
	int state;   /* of the reader; 0: plain text */
	uint32_t number, seen[8];
	unsigned n_seen;
};

void modes_take(struct modes *m, struct str printed);
/* What switches these on, and what switches them back. */
void modes_enter(uint32_t on, struct buf *out);
void modes_leave(uint32_t on, struct buf *out);

#endif
