/*
 * Folders of a revision, by running git: what a policy said at some commit.
 *
 * git gets an argument vector, no shell, no terminal and no pager; a revision
 * that a user typed is a revision and never an option. Whatever the
 * repository's own configuration names (hooks, a file system monitor, remotes
 * to fetch missing objects from) is not run and not asked. Objects are read
 * as they are stored: no filter, no replacement, no link followed. Output and
 * time are bounded.
 */
#ifndef COMPILER_CLI_REVIEW_GIT_H
#define COMPILER_CLI_REVIEW_GIT_H

#include "compiler/base/arena.h"
#include "compiler/base/err.h"

#define GIT_OID_MAX 65 /* SHA-256 in hex, and a NUL */

struct git {
	const char *dir;   /* where it runs */
	struct str prefix; /* of dir in the work tree: "sub/", or empty */
};

struct git_entry {
	unsigned mode; /* as lstat(2) has it; S_IFDIR for a folder */
	char oid[GIT_OID_MAX];
};

/*
 * The repository that dir lies in.
 *   -ENOENT  it lies in none, or there is no git
 *   -EPROTO  git says no for another reason
 */
must_check int git_open(struct arena *a, const char *dir, struct git *out,
			struct err *err);
/*
 * The root folder of a commit, tag or tree, whatever git calls a revision.
 *   -ENOENT  there is none of this name
 *   -EINVAL  not a name at all: empty, begins with '-', control characters
 */
must_check int git_root(struct arena *a, const struct git *g, struct str rev,
			struct git_entry *out, struct err *err);
/* The commit that two grew from; -ENOENT when there is none. */
must_check int git_merge_base(struct arena *a, const struct git *g,
			      struct str one, struct str two, struct str *out,
			      struct err *err);
/*
 * The entry at a path, without '.' and '..', below a folder. Where a link is
 * on the way, that is the entry. The mode of what is another repository's
 * (a submodule) is git's own, neither a file's nor a folder's. -ENOENT when
 * there is none.
 */
must_check int git_find(struct arena *a, const struct git *g,
			const struct git_entry *folder, struct str path,
			struct git_entry *out, struct err *err);
/* The bytes of a file; -EFBIG when they are more than max. */
must_check int git_read(struct arena *a, const struct git *g,
			const struct git_entry *file, size_t max,
			struct str *out, struct err *err);
/* The names in a folder, in git's order; -EFBIG when they are too many. */
typedef VEC(struct str) git_names;
must_check int git_list(struct arena *a, const struct git *g,
			const struct git_entry *folder, git_names *out,
			struct err *err);

#endif
