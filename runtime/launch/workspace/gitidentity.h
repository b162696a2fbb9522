/*
 * Who git takes the user for, as it goes into a session: user.name, user.email
 * and init.defaultBranch.
 *
 * Asked of the host's git, in the workspace, as the user who launches would
 * ask it: system, global, includeIf and the user's own variables. What the
 * repository's own configuration sets is left out: git inside reads that
 * itself. Nothing that configuration could name is run (gitcmd.h).
 *
 * Values go in as a file, never as words: gitidentity in the session's folder,
 * which the plan's git.config includes before everything else, so that the
 * image's, the agent's and the repository's own settings win over it.
 */
#ifndef RUNTIME_LAUNCH_WORKSPACE_GITIDENTITY_H
#define RUNTIME_LAUNCH_WORKSPACE_GITIDENTITY_H

#include "compiler/base/arena.h"

#define GITIDENTITY_VALUE_MAX 1024u /* bytes of a value */

struct gitidentity_value {
	const char *key;   /* "init.defaultBranch" */
	struct str value;  /* no control byte, not empty; else any byte */
	struct str source; /* for people: "~/.gitconfig" */
};

struct gitidentity {
	VEC(struct gitidentity_value) values; /* in a fixed order */
	VEC(struct str) notes;		      /* what does not go in, and why */
};

/* Ask. Without git, or where nothing is set, both lists are empty. */
void gitidentity_find(struct arena *a, const char *workspace,
		      struct gitidentity *out);
/*
 * What `git config --null --show-scope --show-origin` has listed. home: of who
 * launches, or NULL.
 */
void gitidentity_read(struct arena *a, struct str listing, const char *home,
		      struct gitidentity *out);
/* The file; empty where there is no value. */
struct str gitidentity_config(struct arena *a, const struct gitidentity *g);

#endif
