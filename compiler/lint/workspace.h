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

/*
 * path      the workspace
 * patterns  whether to warn of patterns that match nothing: those of the
 *           workspace's files and of the command line, since the user's own
 *           are for all workspaces
 *
 * False when not everything was looked at: a bound was reached, or a folder
 * cannot be read (which a session hides). Then no pattern is said to match
 * nothing.
 */
bool workspace_lint(struct pass_ctx *c, const struct ir_policy *p,
		    const char *path, bool patterns);

#endif
