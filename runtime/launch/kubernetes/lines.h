/*
 * Lines out of what a kubectl prints, which comes in pieces of any size.
 */
#ifndef RUNTIME_LAUNCH_KUBERNETES_LINES_H
#define RUNTIME_LAUNCH_KUBERNETES_LINES_H

#include "compiler/base/buf.h"
#include "compiler/base/err.h"

#define LINES_LINE_MAX (1u << 20) /* bytes; what is longer is cut there */

/* One without its LF; below 0 ends the reading. */
typedef int lines_fn(void *ctx, struct str line, struct err *err);

struct lines {
	struct buf part; /* of the one that has not ended */
	lines_fn *on_line;
	void *ctx;
};

void lines_init(struct lines *l, struct arena *a, lines_fn *on_line, void *ctx);
/* Forget what there is of one. */
void lines_reset(struct lines *l);
/* What on_line said first that is not 0. */
must_check int lines_take(struct lines *l, struct str text, struct err *err);
/* No more will come: the last one may have no LF. */
must_check int lines_end(struct lines *l, struct err *err);

#endif
