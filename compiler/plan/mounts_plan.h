/*
 * mounts.plan: which paths of the workspace the agent does not see, may not
 * change, and may not even create; and which files of its home are for one
 * program alone. Written by compiler/emit/mounts.c, read by
 * compiler/plan/mountsplan.c.
 *
 *	membrane-mounts 1
 *	workspace /workspace
 *	ignore PATTERN          in order; the rest of the line, verbatim
 *	readonly PATTERN
 *	hold PATH               relative; a directory when it ends in a slash
 *	fast PATH               a folder that is mounted past the view
 *	protect NAME /PATTERN   in the agent's home: for the program NAME alone
 *
 * Sections in that order, each line ended by LF.
 */
#ifndef COMPILER_PLAN_MOUNTS_PLAN_H
#define COMPILER_PLAN_MOUNTS_PLAN_H

#define MOUNTS_PLAN_HEAD      "membrane-mounts 1"
#define MOUNTS_PLAN_WORKSPACE "workspace"
#define MOUNTS_PLAN_IGNORE    "ignore"
#define MOUNTS_PLAN_READONLY  "readonly"
#define MOUNTS_PLAN_HOLD      "hold"
#define MOUNTS_PLAN_FAST      "fast"
#define MOUNTS_PLAN_PROTECT   "protect"
/* Where the home is, inside. */
#define MOUNTS_PLAN_HOME "/home/agent"

#endif
