/*
 * Reading mounts.plan: which paths of the workspace the agent does not see,
 * may not change, and may not even create, and which of its home are for one
 * program alone. compiler/plan/mounts_plan.h has the
 * format. Anything else refuses the whole, as does a pattern that
 * gitignore_add() finds fault with.
 */
#ifndef COMPILER_PLAN_MOUNTSPLAN_H
#define COMPILER_PLAN_MOUNTSPLAN_H

#include "compiler/base/err.h"
#include "compiler/base/gitignore.h"

struct mountsplan_hold {
	struct str path; /* without the slash at its end */
	bool is_dir;	 /* what a placeholder would have to be */
};

struct mountsplan {
	struct str target; /* where the workspace is, inside: "/workspace" */
	struct gitignore *ignore, *readonly;
	VEC(struct mountsplan_hold) holds;
	VEC(struct str) fast; /* folders */
	struct gitignore *protect; /* of the home */
	VEC(struct str) by;	   /* of each line of it: a program's name */
};

/*
 * Parse text; *out borrows from it.
 *   -EPROTO  unknown version or record, a record out of order, a faulty
 *            pattern or path, a missing LF
 *   -E2BIG   more than LIMIT_PATTERNS patterns or holds, or LIMIT_FAST
 *            fast folders
 */
must_check int mountsplan_read(struct arena *a, struct str text,
			       struct mountsplan *out, struct err *err);

#endif
