/* The table of commands, and what runs one: command.h. */
#include "compiler/cli/frame/command.h"

#include "compiler/cli/frame/options.h"
#include "compiler/cli/frame/parts.h"
#include "compiler/cli/text/console.h"

static const struct command table[] = {
#define ROW(id, name, args, max, first, rest, hidden, run, about)              \
	[COMMAND_##id] = {name,		 args,	       about,  max,            \
			  WORDS_##first, WORDS_##rest, hidden, command_##run},
#define COMMAND(id, name, args, max, first, rest, run, about)                  \
	ROW(id, name, args, max, first, rest, false, run, about)
#define HIDDEN(id, name, args, max, first, rest, run, about)                   \
	ROW(id, name, args, max, first, rest, true, run, about)
#include "compiler/cli/frame/commands.def"
#undef COMMAND
#undef HIDDEN
#undef ROW
};

static const struct command_word words[] = {
#define ROW(kind, command, name, about)                                        \
	{COMMAND_##command, COMMAND_WORD_##kind, name, about},
#define TEXT(command, about)	    ROW(TEXT, command, NULL, about)
#define TERM(command, name, about)  ROW(TERM, command, name, about)
#define WORD(command, name, about)  ROW(WORD, command, name, about)
#define TYPED(command, name, about) ROW(TYPED, command, name, about)
#define STATUS(command, about)	    ROW(STATUS, command, NULL, about)
#include "compiler/cli/frame/words.def"
#undef ROW
};

const struct command *command_get(enum command_id id)
{
	return &table[id];
}

const struct command_word *command_word_at(size_t i)
{
	return i < ARRAY_LEN(words) ? &words[i] : NULL;
}

bool command_find(struct str name, enum command_id *out)
{
	for (int i = 0; i < COMMANDS; i++)
		if (str_is(name, table[i].name)) {
			*out = (enum command_id)i;
			return true;
		}
	return false;
}

/* A command that was run, or is joined, may well end with 2 itself. */
static int usage_status(const struct options *o)
{
	return options_launch(o) || o->command == COMMAND_ATTACH
		       ? STATUS_RUN_FAILED
		       : STATUS_USAGE;
}

int command_main(int argc, char **argv)
{
	struct arena *a = arena_new();
	struct buf complaint;
	struct options o;
	int status;

	buf_init(&complaint, a);
	if (!options_parse(a, argc, argv, &o, &complaint)) {
		console_error("%s\n  'membrane help%s%s' lists what there is",
			      complaint.p,
			      o.named && o.command != COMMAND_HELP ? " " : "",
			      o.named && o.command != COMMAND_HELP
				      ? table[o.command].name
				      : "");
		status = usage_status(&o);
	} else if (options_get(&o, OPTION_HELP)) {
		status = help_print(a, o.named ? o.command : COMMAND_HELP);
	} else if (options_get(&o, OPTION_VERSION)) {
		status = command_version(a, &o);
	} else {
		if (usage_status(&o) == STATUS_RUN_FAILED)
			arena_failure(STATUS_RUN_FAILED);
		status = table[o.command].run(a, &o);
	}
	arena_free(a);
	return status;
}
