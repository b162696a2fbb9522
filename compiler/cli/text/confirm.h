/*
 * Asking who sits at the terminal.
 */
#ifndef COMPILER_CLI_TEXT_CONFIRM_H
#define COMPILER_CLI_TEXT_CONFIRM_H

#include "compiler/base/str.h"

#define CONFIRM_TYPED 16u /* of an answer, with its NUL */

/*
 * The terminal to ask at; -1 when there is none, or nobody who sees it: the
 * command is in the background, or all of it is redirected.
 */
must_check int confirm_terminal(void);
/*
 * Show a text and ask, on the terminal alone. What was typed ahead is no
 * answer; only "y" and "yes" are one.
 */
must_check bool confirm_ask(int tty, struct str text, struct str question);
/*
 * The same, with another answer: what was typed, without blanks around it.
 * False where that is longer than line, or nobody is there any more.
 */
must_check bool confirm_line(int tty, struct str text, struct str question,
			     char *line, size_t size);

#endif
