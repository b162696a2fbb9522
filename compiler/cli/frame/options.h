/*
 * The command line, after options.def: `--x=y`, `--x y`, `-xy`, `-x y`; flags
 * and words in any order; all that follows `--` is the command. Without a
 * subcommand it is `run`.
 *
 * Pure: reads its arguments and says what is wrong with them.
 */
#ifndef COMPILER_CLI_FRAME_OPTIONS_H
#define COMPILER_CLI_FRAME_OPTIONS_H

#include "compiler/base/buf.h"
#include "compiler/cli/frame/command.h"

enum option_id {
#define OPTION(id, name, letter, value, meta, commands, section, about)        \
	OPTION_##id,
#define ALIAS(id, name)
#define FOLD(id, commands)
#include "compiler/cli/frame/options.def"
#undef OPTION
#undef ALIAS
#undef FOLD
	OPTIONS,
};

enum option_value {
	VALUE_NONE,
	VALUE_TEXT,
	VALUE_SESSION, /* a text, too */
	VALUE_FILE,
	VALUE_DIR,
	VALUE_WORDS, /* one of option_words() */
	VALUE_MAYBE, /* only as --x=y, and may be absent */
};

enum option_section { SECTION_OWN, SECTION_POLICY, SECTION_TARGET };

/* One spelling; an alias is a row of its own with the same id. */
struct option {
	enum option_id id;
	const char *name;
	char letter; /* 0: none */
	enum option_value value;
	const char *meta;
	uint64_t commands; /* a bit for each: 1 << command_id */
	enum option_section section;
	int flag;	   /* enum front_flag_kind; -1: no line of a policy */
	const char *about; /* NULL for an alias */
};

/* In the order of the help; NULL at the end. */
const struct option *option_at(size_t i);
/*
 * By the whole of its long name, or by its letter: the one of a command, or
 * else the first; NULL when there is none.
 */
const struct option *option_named(struct str name, enum command_id id);
const struct option *option_lettered(char letter, enum command_id id);
/* The row of an option itself, not of its alias. */
const struct option *option_row(enum option_id id);
/* Whether it is one of a command's, and no alias. */
bool option_belongs(const struct option *o, enum command_id id);
/* Whether the help of a command that has it only names it. */
bool option_folded(const struct option *o, enum command_id id);
/* What a VALUE_WORDS option takes; NULL at the end. */
const char *option_word(enum option_id id, size_t i);
/* Of a word that there is: the file that it stands for, or NULL. */
const char *option_word_file(enum option_id id, size_t i);

struct option_given {
	enum option_id id;
	struct str spelling; /* "-n", "--hostname" */
	struct str value;    /* empty for VALUE_NONE */
};

struct options {
	enum command_id command;
	bool named; /* the command was written, not implied */
	VEC(struct option_given) given; /* as typed */
	VEC(struct str) words;		/* neither flags nor the command */
	/* After `--`, NULL at the end; NULL when there was no `--`. */
	char *const *exec;
};

/*
 * False when the command line is wrong; complaint then holds the lines to
 * print, without "membrane: " in front, and out->command whose command line it
 * is: COMMAND_HELP when that is what is wrong.
 */
must_check bool options_parse(struct arena *a, int argc, char *const *argv,
			      struct options *out, struct buf *complaint);
/* Whether it begins a session: run and start. */
bool options_launch(const struct options *o);
/* The last of its kind, or NULL. */
const struct option_given *options_get(const struct options *o,
				       enum option_id id);
/* Its value for the C library, or otherwise. */
const char *options_value(struct arena *a, const struct options *o,
			  enum option_id id, const char *otherwise);

#endif
