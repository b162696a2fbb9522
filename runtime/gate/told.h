/*
 * What the launcher tells the gate while the session runs, a line each:
 *
 *	change N keep|cut           the plan is another now, and is to be number N
 *	asking on|off               whether anybody may be asked
 *	answer N once|yes|no|none   to question N: for who waits, as long as the
 *	                            session runs, or that nobody is there
 *
 * Pure. "renewed" is not among them: what is behind it is the worker's to read.
 */
#ifndef RUNTIME_GATE_TOLD_H
#define RUNTIME_GATE_TOLD_H

#include "runtime/gate/worker.h"

/* Without its LF. False for anything else. */
bool told_parse(struct str line, struct worker_msg *out);

#endif
