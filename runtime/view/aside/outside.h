/*
 * What git's index has of files that are not seen: sizes and times are its own,
 * whatever the disk has, and they read as empty. Of the workspace, what is
 * hidden and tracked, where the disk has something of that name; of the
 * repository that the workspace is a folder of, everything, and nothing of the
 * disk. What git writes there is aside (aside.h).
 */
#ifndef RUNTIME_VIEW_ASIDE_OUTSIDE_H
#define RUNTIME_VIEW_ASIDE_OUTSIDE_H

#include "runtime/view/judge/hello.h"
#include "runtime/view/view.h"

/* Both; before copies_bound(). False: no memory. */
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
