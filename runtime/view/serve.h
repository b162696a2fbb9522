/*
 * The server: answers the kernel's requests, with the workspace owner's ids and
 * without a right beyond them.
 */
#ifndef RUNTIME_VIEW_SERVE_H
#define RUNTIME_VIEW_SERVE_H

#include "runtime/view/hello.h"

struct serve {
	struct arena *a;
	const struct hello *hello;
	const struct mountsplan *plan;
	int fuse;    /* /dev/fuse, mounted */
	int source;  /* the workspace, O_PATH; becomes the server's */
	int out;     /* where lines go to: a pipe */
	int control; /* its end is the server's */
	int parent;  /* a process whose end is the server's, too */
};

/*
 * In a process of its own: until control ends or nobody has the mount any more.
 * Says VIEW_SAYS_READY, decisions and what goes wrong. The status to exit with:
 * 0, or 1 behind an error.
 */
int serve(const struct serve *s);

#endif
