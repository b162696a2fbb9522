/*
 * What the last word of a command line could be: the model of `membrane
 * complete`. It knows commands, flags and their words from the tables; what
 * lies in the state folder is the caller's to offer, and files are the shell's
 * to complete.
 *
 * It answers in lines, for the functions of `membrane completion`:
 *
 *	word TAB what it is	in place of the last word
 *	:files  :folders	complete one, after a '=' where there is one
 *	:command		what stands behind the "--" is a command line
 *
 * Pure.
 */
#ifndef COMPILER_CLI_FRAME_COMPLETION_H
#define COMPILER_CLI_FRAME_COMPLETION_H

#include "compiler/base/buf.h"
#include "compiler/cli/frame/command.h"

struct completion {
	struct buf *out;
	struct str before, typed; /* "--session=" and "a1" of --session=a1 */
	/* What the caller is to offer: WORDS_SESSION, WORDS_RECORD, WORDS_TRACE
	 * or WORDS_NONE. */
	enum command_words sessions;
};

/*
 * words: those behind the program's name, NULL at the end; the last of them is
 * the one to be completed. As bash has them, '=' and ':' may stand alone.
 */
void completion_find(struct buf *out, char *const *words, struct completion *c);
/* Unless it begins otherwise than what was typed, or would break a line. */
void completion_offer(struct completion *c, struct str name, struct str about);

#endif
