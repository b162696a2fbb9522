/*
 * What there is to complete, for a writer of each shell's completions.
 */
#ifndef COMPILER_CLI_FRAME_COMPLETION_WORDS_H
#define COMPILER_CLI_FRAME_COMPLETION_WORDS_H

#include "compiler/base/buf.h"
#include "compiler/cli/frame/options.h"

/* What the words of a command are, that are neither flags nor their values. */
enum completion_words {
	COMPLETION_NONE,
	COMPLETION_DIR,
	COMPLETION_FILES, /* any number of them */
	COMPLETION_COMMAND,
	COMPLETION_SHELL,
	COMPLETION_SCHEMA,
	COMPLETION_TRACE,   /* a view; then a session or file */
	COMPLETION_REQUEST, /* how one begins; then a file for some */
	COMPLETION_SESSION,
	COMPLETION_SESSIONS, /* any number of them */
	COMPLETION_RECORD,   /* a session, though it may have ended */
};

#define COMPLETION_VIEWS "show grep stats tree follow replay suggest"

/* Each command's, in their order. */
void completion_words_each(struct buf *out,
			   void put(struct buf *out, const char *name,
				    enum completion_words words));
/*
 * The words themselves, a blank between them; none for names of files, nor for
 * sessions: shells ask `membrane ps --ids` for those, which asks no daemon.
 */
void completion_word_list(struct buf *out, enum completion_words words);
/* Names of all commands: "run|plan|…" with the separator "|". */
void completion_commands(struct buf *out, const char *sep);
/* What a VALUE_WORDS option takes, a blank between them. */
void completion_option_words(struct buf *out, enum option_id id);
/* Whether an option is one of a command's. */
bool completion_has(const struct option *o, enum command_id id);

#endif
