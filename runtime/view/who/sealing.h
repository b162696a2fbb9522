/*
 * Closes the memory of the session's main process, whatever that goes on as:
 * it is traced from before its command begins, and each program stands still
 * before its first instruction until PR_SET_DUMPABLE has been said in its name.
 * No program can undo that but by going on as another. So it holds for static
 * programs, which load nothing of ours.
 *
 * The tracing ends with the program that is meant; shells and env(1) are on the
 * way to one. Who traces needs CAP_SYS_PTRACE.
 */
#ifndef RUNTIME_VIEW_WHO_SEALING_H
#define RUNTIME_VIEW_WHO_SEALING_H

#include "compiler/base/err.h"
#include "compiler/base/str.h"

#include <stdbool.h>
#include <sys/types.h>

struct sealing {
	pid_t process; /* traced; 0: none, or no more */
	bool begun;    /* once */
};

/* Is it a program that goes on as another, by its command line? Pure. */
bool sealing_goes_on(const char *line, size_t n);
/* The process waits for an answer of ours meanwhile. */
must_check int sealing_begin(struct sealing *s, pid_t process, struct err *err);
/*
 * What has become of it, after SIGCHLD; never waits for what takes long.
 * program: the name of the one that is meant. An error: a program could not be
 * closed, and stands still; it ends with this process.
 */
must_check int sealing_step(struct sealing *s, struct str program,
			    struct err *err);

#endif
