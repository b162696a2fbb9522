/*
 * Presets by themselves: what one is for and what it grants; and the profile of
 * an agent, which is the preset of its name.
 */
#ifndef COMPILER_CLI_PROFILE_PROFILE_H
#define COMPILER_CLI_PROFILE_PROFILE_H

#include "compiler/cli/frame/agents.h"
#include "compiler/cli/text/view.h"
#include "compiler/cli/workspace/inputs.h"

struct profile {
	const char *name;
	struct str about; /* the first sentence of its file */
	/* Compiled on its own, above the floor alone; ok, or it is not read.
	 * driver_done(&c) is the caller's. */
	struct compilation c;
};

/* A preset of that folder below the one of policies; false: said. */
must_check bool profile_read(struct arena *a, const char *policies,
			     const char *folder, const char *name,
			     struct profile *out);
/* What it grants, a row each, with the host files that it has a login from,
 * what it refuses on purpose, and its image, if it names one. */
void profile_view(const struct view *v, const struct profile *p);
/* How many destinations it grants. */
uint32_t profile_grants(const struct profile *p);
/* "built", "missing", or "unknown" where Docker does not answer */
const char *profile_image_state(struct arena *a, const struct agent *g);
/* Whether one of the images that every session has, whatever its command, is
 * not here; false where Docker does not answer. */
bool profile_session_lacks(struct arena *a);

/* --- profile_add.c -------------------------------------------------------- */

/* Whether a compiled policy extends an agent's profile. */
bool profile_extended(const struct compilation *c, const struct agent *g);

enum profile_answer {
	PROFILE_ADDED,
	PROFILE_DECLINED,
	PROFILE_UNASKED, /* there is nobody to ask */
	PROFILE_FAILED,	 /* said */
};

/* What a program is run with: lines of a policy. */
struct profile_wish {
	const char *program;	   /* as it was called */
	const struct agent *agent; /* whose profile; NULL: none */
	ir_texts folders;	   /* for `visible`, of program_find() */
};

/*
 * The policy of the workspace with a wish, shown as what all of the workspace
 * adds then, asked about unless yes, written, and approved as it was shown. in
 * is of inputs_find(); flags of the command line have no part in it.
 * question: what a yes does, "Add that, and run it?".
 */
enum profile_answer profile_add(struct arena *a,
				const struct profile_wish *wish,
				const struct inputs *in, const char *question,
				bool yes);
/* "extends: [claude]", "visible: [~/.nvm]"; between: what divides the two. */
struct str profile_lines(struct arena *a, const struct profile_wish *wish,
			 const char *between);

#endif
