/*
 * mounts.plan: which paths of the workspace the agent does not see, may not
 * change, and may not even create. Written by compiler/emit/mounts.c, read by
 * compiler/plan/mountsplan.c.
 *
 *	membrane-mounts 1
 *	workspace /workspace
 *	ignore PATTERN          in order; the rest of the line, verbatim
 *	readonly PATTERN
 *	hold PATH               relative; a directory when it ends in a slash
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

#endif
