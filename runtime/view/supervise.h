/*
 * The process that mounted, while there is a server: passes on what that says,
 * takes the mount away when it is told to, and when the server is gone.
 */
#ifndef RUNTIME_VIEW_SUPERVISE_H
#define RUNTIME_VIEW_SUPERVISE_H

#include "compiler/base/str.h"

#include <sys/types.h>

/* Nobody is waited for longer than this at the end. */
#define SUPERVISE_END_MS 5000

struct supervise {
	const char *at; /* the mount */
	pid_t server;
	int signals; /* of signals_open() */
	int lines;   /* what the server says */
	int control; /* closed: the server is to end */
};

/* said: what the launcher has said already. The status to exit with. */
int supervise(struct supervise *s, struct str said);

#endif
