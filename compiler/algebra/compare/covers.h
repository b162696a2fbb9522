/*
 * compare.h, of what mounts lie on: where one lies on a part of the workspace,
 * that part is out of sight, and comes back when the mount goes.
 *
 * These changes are of reading and writing, and have no witness: what explain
 * says of a path does not look at mounts.
 */
#ifndef COMPILER_ALGEBRA_COMPARE_COVERS_H
#define COMPILER_ALGEBRA_COMPARE_COVERS_H

#include "compiler/algebra/compare/compare.h"
#include "compiler/ir/docker_run.h"

struct covers {
	struct arena *a;
	const struct ir_policy *p[2];
	struct comparison *out;
	struct decide_files *files[2]; /* when they are first needed */
	VEC(struct str) at[2];	       /* where in the workspace, clean */
};

void covers_init(struct covers *c, struct arena *a, const struct ir_policy *old,
		 const struct ir_policy *now, struct comparison *out);

/* What one mount, that one side alone has, does beside what is in it. */
enum covers_place {
	COVERS_UNKNOWN, /* where it lies cannot be known */
	COVERS_OUTSIDE, /* on something of the image's, or on nothing */
	COVERS_INSIDE,	/* on something of the workspace, which was told */
	COVERS_NOTHING, /* there, and what it lies on is out of sight anyway */
};
/*
 * Of the docker option of that value, shown as text; old: it is gone. What it
 * was on is gained, what it is on is lost. out_empty: nothing is in it.
 */
enum covers_place covers_tell(struct covers *c, enum docker_run_id option,
			      struct str value, struct str text,
			      struct ir_origin from, bool old, bool *out_empty);

#endif
