/*
 * The process that mounted, while there are servers: passes on what those say,
 * says who asks of a home, takes the mounts away when it is told to, and when a
 * server is gone.
 */
#ifndef RUNTIME_VIEW_SUPERVISE_H
#define RUNTIME_VIEW_SUPERVISE_H

#include "compiler/base/str.h"

#include <sys/types.h>

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
