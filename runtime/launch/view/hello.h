/*
 * What a view is told at first: compiler/plan/view_hello.h has the format.
 *
 * Patterns it reads itself, from mounts.plan; here stands what only a look at
 * the workspace finds: what git runs or reads, where links of what matches
 * lead, files that have a hidden name as well as others, what git's index has
 * of what is hidden.
 */
#ifndef RUNTIME_LAUNCH_VIEW_HELLO_H
#define RUNTIME_LAUNCH_VIEW_HELLO_H

#include "runtime/launch/mounts/looked.h"
#include "runtime/launch/workspace/committed.h"

#include <sys/types.h>

/* What a hold line is there for. */
enum hello_why {
	HELLO_GIT,  /* git: what it runs or reads */
	HELLO_LINK, /* a link of what is readonly leads there */
};

struct hello_hold {
	struct str path; /* of the workspace */
	enum hello_why why;
	const struct gitfound_path *git;
};

/* In the order of the lines, which the view counts from 0. */
typedef VEC(struct hello_hold) hello_holds;

struct hello_owner {
	uid_t uid;
	gid_t gid;
};

/*
 * All of it, up to "go", and what its hold lines are; in the arena, borrows
 * from l. Of what git has, as much as there is room for.
 *   -E2BIG  more than the view takes
 *   others  of fstat(2) on the workspace
 */
must_check int hello_write(struct arena *a, const struct looked *l,
			   const struct committed *git,
			   const struct hello_owner *owner,
			   hello_holds *out_holds, struct str *out,
			   struct err *err);

/*
 * Of the home, behind the other: who owns it, which folder it is, and the
 * program that the session runs (NULL: nobody knows).
 */
must_check int hello_write_home(struct arena *a, const char *home,
				const struct hello_owner *owner,
				const char *program, struct str *out,
				struct err *err);

#endif
