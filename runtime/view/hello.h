/*
 * What the launcher says before the view begins: compiler/plan/view_hello.h.
 * Pure.
 */
#ifndef RUNTIME_VIEW_HELLO_H
#define RUNTIME_VIEW_HELLO_H

#include "compiler/base/err.h"
#include "runtime/view/hidden.h"
#include "runtime/view/judge.h"

#include <sys/types.h>

struct hello {
	uid_t uid;
	gid_t gid;
	uint64_t dev, ino; /* of the workspace */
	struct str at;	   /* absolute, on the host; empty: not said */
	bool readonly;
	judge_paths holds, hides;
	VEC(struct hidden_file) inodes;
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
