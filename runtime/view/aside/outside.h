/*
 * The repository that the workspace is a folder of, beside the workspace: what
 * git's index has of it, and nothing of the disk. Names are there with the
 * index's own sizes and times, and read as empty; what git writes there is
 * aside (aside.h).
 */
#ifndef RUNTIME_VIEW_ASIDE_OUTSIDE_H
#define RUNTIME_VIEW_ASIDE_OUTSIDE_H

#include "runtime/view/judge/hello.h"
#include "runtime/view/view.h"

/* Before copies_bound(). False: no memory. */
must_check bool outside_know(struct view *v, struct arena *a,
			     const struct hello *h);

/* The texts that git reads there, and its lists behind those of the host:
 * attributes and exclude are the plan's, either may be empty. */
must_check int outside_read(struct view *v, struct arena *a,
			    const struct hello *h, struct str attributes,
			    struct str exclude, struct err *err);

/*
 * Lines of git's for the repository, out of the plan's for the workspace; and
 * the filter of what is hidden for all beside it. Pure.
 */
struct str outside_attributes(struct arena *a, const struct hello *h,
			      struct str attributes);
struct str outside_exclude(struct arena *a, struct str part,
			   struct str exclude);

#endif
