/*
 * What git's index has of a repository beside the one folder of it that is the
 * workspace: so that git inside finds all of it unchanged, and nothing of the
 * disk has to be shown for that.
 *
 * Names, types, sizes and times are the index's own, whatever the disk has by
 * now: git takes the files for what it last saw, writes none of its numbers
 * anew, and a change that the user has not committed yet stays one. Of the
 * folders that lead to the workspace, the texts that git reads there are read.
 *
 * git itself lists the index, without the repository's own effect.
 */
#ifndef RUNTIME_LAUNCH_WORKSPACE_GITOUTSIDE_H
#define RUNTIME_LAUNCH_WORKSPACE_GITOUTSIDE_H

#include "compiler/base/arena.h"
#include "compiler/base/err.h"
#include "runtime/launch/workspace/gitindex.h"
#include "runtime/launch/workspace/gitlinked.h"

struct gitoutside_text {
	struct str path, text;
};

struct gitoutside {
	VEC(struct gitindex_file) files;   /* as the index is sorted */
	VEC(struct gitoutside_text) texts; /* .gitignore and the like */
};

/*
 * g is a GITLINKED_PART. In the arena.
 *   -ENOTSUP  git does not say it, a conflict is open there, or it is more than
 *             a view takes
 */
must_check int gitoutside_find(struct arena *a, const struct gitlinked *g,
			       struct gitoutside *out, struct err *err);

#endif
