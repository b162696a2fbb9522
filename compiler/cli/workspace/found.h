/*
 * What `run` would find in the workspace as it is now: `plan` lists it, and
 * `explain` answers from it. None of it is in the artefacts, which depend on
 * the policy alone.
 */
#ifndef COMPILER_CLI_WORKSPACE_FOUND_H
#define COMPILER_CLI_WORKSPACE_FOUND_H

#include "compiler/cli/workspace/inputs.h"
#include "runtime/launch/mounts/looked.h"
#include "runtime/launch/workspace/committed.h"
#include "runtime/launch/workspace/gitidentity.h"
#include "runtime/launch/workspace/gitlinked.h"

struct found {
	struct arena *a;
	struct looked looked;
	struct committed committed; /* found_committed() */
	bool has_committed;
	uint32_t *lines; /* of each path of git's; 0: not asked yet */
};

/* Scan, then look, as `run` does it. Otherwise *err says why not. */
must_check int found_look(struct arena *a, const struct inputs *in,
			  const struct plan *plan, struct found *out,
			  struct err *err);
/* Of one that failed, or a zeroed one: nothing. */
void found_done(struct found *f);

/* The line that names a path of looked.git; 0: none does, or not known. */
uint32_t found_line(struct found *f, const struct gitfound_path *p);
/* What git has committed of what is hidden. */
const struct committed *found_committed(struct found *f);
/* The repository that the workspace is a worktree of, where that is elsewhere.
 */
void found_linked(struct arena *a, const struct inputs *in,
		  struct gitlinked *out);
/* Who git takes the user for there. */
void found_identity(struct arena *a, const struct inputs *in,
		    struct gitidentity *out);

#endif
