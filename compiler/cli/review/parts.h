/*
 * What the files of this folder share, and nobody else sees.
 */
#ifndef COMPILER_CLI_REVIEW_PARTS_H
#define COMPILER_CLI_REVIEW_PARTS_H

#include "compiler/plan/plan.h"
#include "runtime/launch/session/metadata.h"

struct ran {
	struct metadata about;
	/* That it ran with last: allow and deny change it meanwhile. */
	struct plan plan;
};

/* workspace: an absolute path. -ENOENT: there is no such session. */
must_check int ran_find(struct arena *a, const char *state,
			const char *workspace, struct ran *out,
			struct err *err);

#endif
