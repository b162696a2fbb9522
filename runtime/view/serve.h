/*
 * The server: answers the kernel's requests, with the workspace owner's ids and
 * without a right beyond them.
 */
#ifndef RUNTIME_VIEW_SERVE_H
#define RUNTIME_VIEW_SERVE_H

#include "runtime/view/judge/hello.h"

struct serve {
	struct arena *a;
	const struct hello *hello;
	const struct mountsplan *plan;
	struct str attributes; /* of the plan, where the hello says so */
	struct str exclude;    /* the same, of a part; or empty */
	int fuse;	       /* /dev/fuse, mounted */
	int source;	       /* the folder, O_PATH; becomes the server's */
	int beside;	       /* what a repository lies in, the same; -1 */
	bool home;	       /* the agent's; else the workspace */
	int who;	       /* of a home: the supervisor's answers, who.h */
	int out;	       /* where lines go to: a pipe */
	int control;	       /* its end is the server's */
	/* A process whose end is the server's, too; 0: where it is not seen. */
	int parent;
};

/*
 * In a process of its own: until control ends or nobody has the mount any more.
 * Says VIEW_SAYS_READY, of a workspace, decisions and what goes wrong. The
 * status to exit with: 0, or 1 behind an error.
 */
int serve(const struct serve *s);

#endif
