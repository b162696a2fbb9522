/*
 * What a look at the workspace finds odd: files that likely hold secrets and
 * are visible, patterns of the workspace that match nothing.
 *
 * Reads only, follows no symbolic link, and is bounded in entries and in time;
 * what lies near the root comes first. For commands that are about one
 * workspace here and now; nothing of it is ever compiled.
 */
#ifndef COMPILER_LINT_WORKSPACE_H
#define COMPILER_LINT_WORKSPACE_H

#include "compiler/ir/doc.h"

#define WORKSPACE_ENTRIES 20000u
#define WORKSPACE_TIME_MS 1000u
#define WORKSPACE_FINDS	  100u

#define WORKSPACE_NAMED 3u

/* What one pattern decides: of a folder, not what is in it. */
struct workspace_held {
	uint32_t n;
	/* Those nearest to the root; a folder's ends in '/'. */
	struct str named[WORKSPACE_NAMED];
};

/* Per pattern of a policy, in its order; NULL: not counted. */
struct workspace_counts {
	struct workspace_held *ignore, *readonly;
};

/*
 * path      the workspace
 * patterns  whether to warn of patterns that match nothing: those of the
 *           workspace's files and of the command line, since the user's own
 *           are for all workspaces
 * counts    filled, or NULL; in the arena of c
 *
 * False when not everything was looked at: a bound was reached, or a folder
 * cannot be read (which a session hides). Then no pattern is said to match
 * nothing, and what is counted is the least there is.
 */
bool workspace_lint(struct pass_ctx *c, const struct ir_policy *p,
		    const char *path, bool patterns,
		    struct workspace_counts *counts);

#endif
