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
#define COMMAND(id, name, args, words, run, about) COMMAND_##id,
#include "compiler/cli/frame/commands.def"
#undef COMMAND
	COMMANDS,
};

struct options;

struct command {
	const char *name, *args, *about;
	uint32_t words; /* that it takes, at most */
	int (*run)(struct arena *a, const struct options *o);
};

const struct command *command_get(enum command_id id);
/* False when there is none of this name. */
bool command_find(struct str name, enum command_id *out);

#define COMMAND(id, name, args, words, run, about)                             \
	int command_##run(struct arena *a, const struct options *o);
#include "compiler/cli/frame/commands.def"
#undef COMMAND

/* Parse the command line and run what it says; the exit status. */
int command_main(int argc, char **argv);

#endif
