/*
 * Variables of the host that the command gets: what its terminal is, and the
 * user's language and time zone. Pure.
 *
 * They are typed: a value that is none of the kind is left out, so that none
 * carries anything else inside.
 */
#ifndef RUNTIME_LAUNCH_INSIDE_HOST_WORDS_H
#define RUNTIME_LAUNCH_INSIDE_HOST_WORDS_H

#include <stdbool.h>

#define HOST_WORDS    "TERM", "COLORTERM", "LANG", "TZ"
#define HOST_WORD_MAX 64u /* bytes of a value */

/* What the host says, by the function; NULL: it says nothing that is valid, or
 * it is about a terminal and the command has none. */
const char *host_word(const char *name, bool tty,
		      const char *(*get)(void *ctx, const char *name),
		      void *ctx);

#endif
