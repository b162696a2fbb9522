/*
 * Whether what a command prints is at the beginning of a line: pure.
 *
 * An escape sequence that only colours, clears or switches leaves a line as it
 * is; one that moves the cursor leaves nobody knowing, which is in a line.
 */
#ifndef RUNTIME_LAUNCH_TELL_MARGIN_H
#define RUNTIME_LAUNCH_TELL_MARGIN_H

#include "compiler/base/str.h"

struct margin {
	unsigned state; /* of margin.c; 0: no sequence has begun */
	bool in_line;
};

/* Take text; with one_line no more than to the end of the first line. How many
 * bytes were taken. */
size_t margin_take(struct margin *m, struct str text, bool one_line);
/* Here somebody else's line may begin. */
bool margin_is_free(const struct margin *m);
/* Somebody else has ended the line. */
void margin_set_free(struct margin *m);

#endif
