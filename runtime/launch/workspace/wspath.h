/*
 * Paths of a workspace: relative to it, segments separated by single slashes,
 * none at either end; empty is the workspace itself. Any byte but NUL.
 */
#ifndef RUNTIME_LAUNCH_WORKSPACE_WSPATH_H
#define RUNTIME_LAUNCH_WORKSPACE_WSPATH_H

#include "compiler/base/arena.h"

#include <sys/stat.h>

/* Is path strictly below dir? Everything is below the empty path. */
bool wspath_below(struct str path, struct str dir);
/* Parents first, and what is below a directory right behind it. */
int wspath_cmp(struct str a, struct str b);
/* dir/name, or name alone when dir is empty. */
struct str wspath_join(struct arena *a, struct str dir, struct str name);
/* For a message: control bytes, backslashes and what is no UTF-8 as \xNN. */
const char *wspath_show(struct arena *a, struct str path);
/* Is s UTF-8 (RFC 3629)? */
bool wspath_is_utf8(struct str s);

/* Where a path leads once its links are resolved. */
enum wspath_end {
	WSPATH_FOUND,
	WSPATH_ROOT,	/* the workspace itself */
	WSPATH_FILE,	/* more segments behind what is no directory */
	WSPATH_MISSING, /* no such entry */
	WSPATH_OUT,	/* out of the workspace, a loop, or unreadable */
};

struct wspath_place {
	enum wspath_end end;
	struct str path; /* what there is: the whole, the file in the way, or
			    the directory in which rest is missing */
	struct str rest;
	struct stat st; /* of path, when FOUND or FILE */
	bool by_link;	/* a link was on the way */
};

/*
 * Follow path from directory dir of the workspace, or from the root directory
 * when it is absolute, link by link. Nothing
 * outside is looked at: there, segments are only counted. An absolute link,
 * or one that climbs out, is inside again when it spells out at, the absolute
 * path of the workspace on the host or in the container.
 */
struct wspath_place wspath_resolve(struct arena *a, int root, struct str at,
				   struct str dir, struct str path);

#endif
