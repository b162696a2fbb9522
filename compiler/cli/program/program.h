/*
 * What belongs to a program of this machine, as whoever runs it would find it:
 * by PATH, through links and the interpreters of scripts, up to the folder that
 * it was installed with (~/.nvm, a prefix of npm's, /opt/NAME). A session of
 * membrane's own engine sees no home; these are lines of `visible` that show it
 * the program, and nothing wider.
 *
 * Looks, and opens nothing but the beginnings of scripts and of what may be a
 * secret. A folder is never one that holds a login or a key, nor a whole home
 * or another place with all kinds of things in it.
 */
#ifndef COMPILER_CLI_PROGRAM_PROGRAM_H
#define COMPILER_CLI_PROGRAM_PROGRAM_H

#include "compiler/cli/workspace/outside.h"

struct program_lack {
	struct str path;   /* what has to be there: "~/.local/bin/claude" */
	struct str folder; /* of `visible`, which would show it; empty: none */
	const char *why;   /* not to be shown; with no folder */
};

struct program {
	const char *at;	   /* where PATH has it first; NULL: nowhere */
	const char *shown; /* where a session finds it as it is; or NULL */
	VEC(struct program_lack) lacks;
	ir_texts folders; /* of lacks, as `visible` has them, each once */
	bool refused;	  /* something cannot be shown */
};

/*
 * path   as in PATH; folders that are no absolute path are left out
 * places  where things are; home is where "~" leads
 * p      what a session sees already; normalised
 * name   of a program, or its path; one in the workspace lacks nothing but
 *        what runs it
 */
void program_find(struct arena *a, const char *path,
		  const struct outside_places *places,
		  const struct ir_policy *p, const char *name,
		  struct program *out);
/* What cannot be shown, a line each on stderr. */
void program_say_refused(struct arena *a, const char *name,
			 const struct program *p);
/* Where PATH has it first, whoever sees it; or NULL. */
const char *program_where(struct arena *a, const char *path, struct str name);

#endif
