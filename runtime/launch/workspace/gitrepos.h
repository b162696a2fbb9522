/*
 * The repositories whose git a workspace can come to run in: those in it
 * (nested, bare, submodules, worktrees), and the one that it lies in.
 *
 * Nothing is executed, and no name is taken for a repository that git would
 * not take for one.
 */
#ifndef RUNTIME_LAUNCH_WORKSPACE_GITREPOS_H
#define RUNTIME_LAUNCH_WORKSPACE_GITREPOS_H

#include "runtime/launch/workspace/scan.h"

/* Repositories that are looked at; there may be more: then it is said. */
#define GITREPOS_MAX 256u

/* Paths are absolute, without a slash at the end. */
struct gitrepo {
	struct str dir;	   /* with its HEAD: ".git", or a bare repository */
	struct str common; /* with its config: dir itself, or its commondir */
	struct str base;   /* of its files; what relative paths begin at */
};

struct gitrepos {
	VEC(struct gitrepo) list;
	scan_paths inside; /* folders of repositories; of the workspace */
	bool cut;	   /* there are more */
};

/* In the arena; root_path is the workspace's, absolute and real. */
void gitrepos_find(struct arena *a, struct str root_path,
		   const struct scan *found, struct gitrepos *out);
/* One more place for the files of a repository; false: known, or too many. */
bool gitrepos_add(struct arena *a, struct gitrepos *all, struct gitrepo r);
/*
 * Without '.', '..' and doubled slashes, as text; path is taken below base
 * unless it is absolute.
 */
struct str gitrepos_path(struct arena *a, struct str base, struct str path);
/* Is there another folder that it takes configuration and hooks from? */
bool gitrepos_is_linked(const struct gitrepo *r);

#endif
