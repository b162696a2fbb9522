/*
 * The subcommands: one function each, found through one table.
 *
 * A command gets its parsed command line and returns the exit status of
 * doc/semantics.md, section 8. Its result goes to stdout; everything that is
 * said about it goes to stderr.
 */
#ifndef COMPILER_CLI_FRAME_COMMAND_H
#define COMPILER_CLI_FRAME_COMMAND_H

#include "compiler/base/arena.h"
#include "compiler/cli/text/status.h"

enum command_id {
#define COMMAND(id, name, args, max, first, rest, run, about) COMMAND_##id,
#define HIDDEN						      COMMAND
#include "compiler/cli/frame/commands.def"
#undef COMMAND
	COMMANDS,
};

/* What a word is that is neither a flag nor the value of one. */
enum command_words {
	WORDS_NONE,   /* nothing that can be listed */
	WORDS_LISTED, /* one of those in words.def */
	WORDS_TOPIC,  /* the same, or a command, or a warning */
	WORDS_DIR,
	WORDS_FILE,
	WORDS_PATH,    /* a file, where the word before it takes one */
	WORDS_SESSION, /* one that runs */
	WORDS_RECORD,  /* a session, though it may have ended */
	WORDS_TRACE,   /* a session that has a trace; or a file */
};

struct options;

struct command {
	const char *name, *args, *about;
	uint32_t words; /* that it takes, at most */
	enum command_words first, rest;
	bool hidden;
	int (*run)(struct arena *a, const struct options *o);
};

const struct command *command_get(enum command_id id);
/* False when there is none of this name. */
bool command_find(struct str name, enum command_id *out);

/* What help and man page say of a command, and what can be typed: words.def. */
enum command_word_kind {
	COMMAND_WORD_TEXT,
	COMMAND_WORD_TERM,
	COMMAND_WORD_WORD,
	COMMAND_WORD_TYPED,
	COMMAND_WORD_STATUS,
};

struct command_word {
	enum command_id command;
	enum command_word_kind kind;
	const char *name; /* NULL for a paragraph, and for statuses */
	const char *about;
};
/* In their order; NULL at the end. */
const struct command_word *command_word_at(size_t i);

#define COMMAND(id, name, args, max, first, rest, run, about)                  \
	int command_##run(struct arena *a, const struct options *o);
#include "compiler/cli/frame/commands.def"
#undef COMMAND
#undef HIDDEN

/* Parse the command line and run what it says; the exit status. */
int command_main(int argc, char **argv);

#endif
