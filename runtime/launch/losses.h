/*
 * What a session's record lacks, said while it runs: a line between its
 * decisions when the launcher learns of it, and of what goes on being lost one
 * in LOSSES_REST_MS with the number since then.
 *
 *	{"event":"lost","time":"2026-01-31T12:00:00.000000Z","of":"trace",
 *	 "count":12,"total":37}
 *	{"event":"lost","time":"…","of":"trace","why":"the tracer ended (1)"}
 *
 *	trace      events of its processes; why: from here on there are none
 *	decisions  what the gate decided, and had no room to tell
 *	refusals   what the launcher counted, and had no room to write
 */
#ifndef RUNTIME_LAUNCH_LOSSES_H
#define RUNTIME_LAUNCH_LOSSES_H

#include "runtime/launch/gate.h"

#include "compiler/base/sys/clock.h"

#define LOSSES_REST_MS 10000

/* Zeroed by the caller. */
struct losses {
	struct {
		uint64_t known, told;
		int64_t next_ms; /* before that no further line */
	} of[DECISIONS_LOST_KINDS];
	const char *why; /* there are no more events; borrowed; or NULL */
	bool was_why_told;
};

/* What is known by now; t: NULL where nothing traces. */
void losses_know(struct losses *l, const struct gate *g,
		 const struct tracer *t);
/* Is there a line to be written until then, by clock_ms()? */
bool losses_are_due(const struct losses *l, int64_t until_ms);
/* Those lines, each with its LF: they are written now. */
void losses_lines(struct losses *l, int64_t until_ms, int64_t now_ms,
		  struct buf *out);
/* When the next one is due; 0: there is none. */
int64_t losses_deadline(const struct losses *l);

#endif
