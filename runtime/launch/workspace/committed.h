/*
 * What masks hide and git has all the same: its index, and so most likely its
 * objects, which the agent can read. git itself lists the index, without the
 * repository's own effect.
 */
#ifndef RUNTIME_LAUNCH_WORKSPACE_COMMITTED_H
#define RUNTIME_LAUNCH_WORKSPACE_COMMITTED_H

#include "runtime/launch/workspace/gitrepos.h"

struct committed {
	scan_paths paths; /* of the workspace; sorted */
	VEC(struct str)
	unknown; /* repositories whose index is not known, and
		    why: a sentence each */
};

/* Nothing is looked at where nothing is hidden. */
void committed_find(struct arena *a, struct str root_path,
		    const struct scan *found, const struct gitrepos *repos,
		    struct committed *out);
/* ".env, keys/id and 3 more"; for a terminal. */
struct str committed_text(struct arena *a, const struct committed *c);

#endif
