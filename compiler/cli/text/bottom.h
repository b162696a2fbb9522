/*
 * The last rows of a terminal on which other things are printed meanwhile: a
 * line of what stands, and a question whose answer is typed there.
 *
 * Both are taken away before something is printed, and put back with what was
 * typed by then: so it is this process that reads each key, with its own line.
 * The terminal is as it was when a signal ends or stops the process. In the
 * background nothing is shown, and its mode is the shell's.
 */
#ifndef COMPILER_CLI_TEXT_BOTTOM_H
#define COMPILER_CLI_TEXT_BOTTOM_H

#include "compiler/cli/text/confirm.h"

#include <stdint.h>

/* Keys of somebody who has just lost the question that they typed at are no
 * answer to the next one. */
#define BOTTOM_DEAF_MS 700

enum bottom_key {
	BOTTOM_MORE, /* of the answer, is to come */
	BOTTOM_LINE, /* in typed */
	BOTTOM_GONE, /* nobody is there any more */
};

struct bottom {
	int tty; /* -1: nothing is shown */
	bool is_shown, asks;
	unsigned columns; /* of the terminal, when it was shown */
	int64_t deaf_until_ms;
	struct str status, question; /* borrowed; cleaned, one row each */
	char typed[CONFIRM_TYPED];
	size_t n;
};

/* Nothing is asked, and what is shown is the status; tty is borrowed. Whoever
 * waits learns by EINTR that the process was stopped, and has to show anew. */
void bottom_init(struct bottom *b, int tty);
/* Off the screen; and back there. Both more than once are once. */
void bottom_hide(struct bottom *b);
void bottom_show(struct bottom *b);
/* Ask; what was typed ahead is no answer. Borrowed as long as it is asked.
 * False in the background: it is not asked. */
must_check bool bottom_ask(struct bottom *b, struct str question);
/* tty is readable. */
enum bottom_key bottom_read(struct bottom *b);
/* What has been asked is over: it stays on the screen where it was answered,
 * else it goes, and keys are nobody's for a moment. */
void bottom_answered(struct bottom *b);
void bottom_withdraw(struct bottom *b);

#endif
