/*
 * What masks hide and git has all the same: its index, and so most likely its
 * objects, which the agent can read. git itself lists the index, without the
 * repository's own effect.
 */
#ifndef RUNTIME_LAUNCH_WORKSPACE_COMMITTED_H
#define RUNTIME_LAUNCH_WORKSPACE_COMMITTED_H

#include "runtime/launch/workspace/gitindex.h"
#include "runtime/launch/workspace/gitrepos.h"

struct committed {
	scan_paths paths; /* of the workspace; sorted */
	/* The same as the index has them, but for those in conflict. */
	VEC(struct gitindex_file) files;
	scan_paths empty; /* those of them that have no content there */
	bool in_folder;	  /* one of them is below a folder that is hidden */
	bool filtered;	  /* committed_filtered(), where somebody asked */
	/* Symbolic links whose name a pattern matches, likewise. Not among
	 * paths: a mount hides what a link leads to, not the link. */
	VEC(struct gitindex_file) links;
	VEC(struct str)
	unknown; /* repositories whose index is not known, and
		    why: a sentence each */
};

/* ignore: what found was made by; seen: with what git last saw of the files.
 * Nothing is looked at where nothing is hidden. */
void committed_find(struct arena *a, struct str root_path,
		    const struct gitignore *ignore, const struct scan *found,
		    const struct gitrepos *repos, bool seen,
		    struct committed *out);
/* out->paths: those that are empty now, and were not. */
void committed_emptied(struct arena *a, const struct committed *before,
		       const struct committed *now, struct committed *out);
/* Has one of paths a filter by the repository's own attributes, as of git LFS?
 * Those go over what git is told of the session's. */
bool committed_filtered(struct arena *a, struct str root_path,
			const struct committed *c);
/* ".env, keys/id and 3 more", of paths; for a terminal. */
struct str committed_text(struct arena *a, const struct committed *c);

#endif
