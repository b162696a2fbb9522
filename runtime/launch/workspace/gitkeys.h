/*
 * Which keys of git's configuration make git run something, and which words
 * of a command line may be files. Pure.
 *
 * A command line is the shell's, and no shell is rebuilt here: its words are
 * what stands between blanks, quotes and operators. What that misses is what
 * nobody can tell without running it; gitkeys_command says when that is so.
 */
#ifndef RUNTIME_LAUNCH_WORKSPACE_GITKEYS_H
#define RUNTIME_LAUNCH_WORKSPACE_GITKEYS_H

#include "compiler/base/arena.h"

enum gitkeys_kind {
	GITKEYS_NONE,
	GITKEYS_HOOKS,
	GITKEYS_INCLUDE,
	GITKEYS_TEMPLATE,
	GITKEYS_WORKTREE,
	GITKEYS_COMMAND,
	GITKEYS_SHELL,
	GITKEYS_REMOTE,
};

/* key: as `git config --list` has it, "filter.Some.Name.clean". */
enum gitkeys_kind gitkeys_kind(struct str key);

struct gitkeys_word {
	struct str text;
	bool program; /* where a command begins */
	bool script;  /* behind an interpreter: no path is searched for it */
};

struct gitkeys_command {
	VEC(struct gitkeys_word) words;
	bool open; /* an interpreter or a build tool: may run anything */
};

/*
 * The command line of a value; no words where it has none: a boolean, an
 * alias without '!', an address without "ext::".
 */
void gitkeys_command(struct arena *a, enum gitkeys_kind kind, struct str value,
		     struct gitkeys_command *out);

#endif
