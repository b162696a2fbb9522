/*
 * What the launcher says before the view begins: compiler/plan/view_hello.h.
 * Pure.
 */
#ifndef RUNTIME_VIEW_JUDGE_HELLO_H
#define RUNTIME_VIEW_JUDGE_HELLO_H

#include "compiler/base/err.h"
#include "compiler/plan/view_hello.h"
#include "runtime/view/judge/hidden.h"
#include "runtime/view/judge/judge.h"

#include <sys/types.h>

/* A file beside, and what it holds. */
struct hello_text {
	struct str path, text;
};

/* What git's index has of a file. */
struct hello_index {
	enum view_outside kind;
	struct str path;
	uint64_t numbers[VIEW_OUTSIDE_NUMBERS];
	struct str text; /* of a link, where it leads; empty: not said */
};

struct hello {
	uid_t uid;
	gid_t gid;
	uint64_t dev, ino;  /* of the workspace */
	struct str at;	    /* absolute, on the host; empty: not said */
	struct str program; /* empty: not said */
	bool readonly;
	bool has_repository, filtered;
	struct str module; /* for a submodule's configuration; or empty */
	uint64_t repository_dev, repository_ino;
	struct str
		part; /* the workspace from the repository's folder; or empty */
	struct gitignore *linked; /* NULL: no line of it */
	judge_paths holds, hides;
	VEC(struct hidden_file) inodes;
	VEC(struct hello_index) tracked; /* hidden, and in git's index */
	VEC(struct hello_index) outside;
	VEC(struct hello_text) texts;
};

/*
 * Parse what stands at the beginning of text, in the arena. *out_used is what
 * it takes, its last LF included; 0: it does not end yet.
 *   -EPROTO  it is none
 *   -E2BIG   more than the bounds of the header
 */
must_check int hello_read(struct arena *a, struct str text, struct hello *out,
			  size_t *out_used, struct err *err);

#endif
