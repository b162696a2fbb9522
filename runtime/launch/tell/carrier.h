/*
 * What a command prints where refusals are told, too: both pass through one
 * process of ours, so that what is told begins a line of its own.
 *
 * A line that is told waits for the end of the command's; should none come in
 * CARRIER_LINE_MS (a prompt, a bar that grows), the process ends the line
 * itself. It waits for whoever reads, and so does the command then, as it would
 * alone; the launcher never does.
 *
 * A pipe that the engine hands on is the command's own, as it would be without
 * us (fewer copies, its size, its reader's end): nothing is between, and what is
 * told there is written whole, wherever the command is in its line.
 */
#ifndef RUNTIME_LAUNCH_TELL_CARRIER_H
#define RUNTIME_LAUNCH_TELL_CARRIER_H

#include "compiler/base/sys/proc.h"

#define CARRIER_LINE_MS 50
#define CARRIER_STOP_MS 500 /* for what is printed, once a signal has come */

struct carrier {
	pid_t pid;   /* 0: none */
	int told;    /* a socket: what is to be told, whole lines; -1 */
	int line_ms; /* CARRIER_LINE_MS */
};

void carrier_init(struct carrier *c);
/* Does what goes to stderr pass through somebody anyway? hands_on: not what is
 * a pipe. */
bool carrier_fits(bool hands_on);
/*
 * The command's stderr, and its stdout where that leads to the same place:
 * o->err and o->out, for the caller to close when the command has started.
 */
must_check int carrier_start(struct carrier *c, struct proc_opts *o,
			     struct err *err);
/* All is printed, and the process has ended; or was ended, by a signal to us.
 * True: what came last has no end of its line. */
bool carrier_end(struct carrier *c);

#endif
