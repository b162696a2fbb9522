/*
 * What a session leaves behind for people and programs, once it has ended:
 * summary.json in its folder, and the last words on stderr.
 *
 * Reads what the session's parts have counted, and ends nothing.
 */
#ifndef RUNTIME_LAUNCH_LIFECYCLE_OUTCOME_H
#define RUNTIME_LAUNCH_LIFECYCLE_OUTCOME_H

#include "runtime/launch/loop/loop.h"
#include "runtime/launch/sshagent.h"
#include "runtime/launch/workspace/committed.h"
#include "runtime/launch/workspace/executed.h"

/* All borrowed. */
struct outcome {
	struct arena *a;
	const char *workspace;
	const char *engine; /* "docker" or "native" */
	const struct executed *executed;
	const struct committed *emptied; /* its paths: in git's index, since */
	const struct sshagent_told *ssh; /* NULL: the session had none */
	uint64_t killed;		 /* processes, for want of memory */
	bool is_fixed; /* no policy of its kind is changed while it runs */
	const struct loop *run;		 /* with its gate, control and tracer */
	int status;			 /* the command's; below 0: of why */
	const struct err *why;
};

/*
 * summary.json. It is a record for later: what becomes of it changes no status,
 * and is said on stderr.
 */
void outcome_write(const struct outcome *o);
/*
 * What was changed and refused, what tools on the host will run of it, and what
 * the records lack; nothing, where there is nothing of that.
 */
void outcome_print(const struct outcome *o);

#endif
