/*
 * The processes of a view, as main() starts them.
 */
#ifndef RUNTIME_VIEW_PARTS_H
#define RUNTIME_VIEW_PARTS_H

#include "compiler/base/str.h"
#include "runtime/view/judge/hello.h"

#include <sys/types.h>

/* --- serve.c ---------------------------------------------------------------
 */

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

/* --- supervise.c -----------------------------------------------------------
 */

/* Nobody is waited for longer than this at the end. */
#define SUPERVISE_END_MS 5000

/* The workspace, and a home. */
#define SUPERVISE_MAX 2

struct supervise {
	unsigned n;
	const char *at[SUPERVISE_MAX]; /* the mounts */
	pid_t server[SUPERVISE_MAX];   /* 0: it has ended */
	int signals;		       /* of signals_open() */
	int lines;		       /* what the servers say */
	int control;		       /* closed: they are to end */
	struct str program;	       /* that the session runs: who.h */
	int who; /* where the home's server asks: who.h; -1 */
};

/* said: what the launcher has said already. The status to exit with. */
int supervise(struct supervise *s, struct str said);

#endif
