/*
 * What the gate decided in a session, a line each: decisions.jsonl in the
 * session's folder, and when that is full decisions.1.jsonl, decisions.2.jsonl
 * and so on. Each part ends with a whole line.
 *
 * What was permitted is in there, always. Of what was refused the same: up to
 * DECISIONS_REFUSED_MAX bytes of a session, so that an agent that does nothing
 * but try does not fill the disk; beyond that only what no earlier line told
 * of. The rest is counted, here and by destination in summary.h.
 */
#ifndef RUNTIME_LAUNCH_SESSION_DECISIONS_H
#define RUNTIME_LAUNCH_SESSION_DECISIONS_H

#include "compiler/base/arena.h"
#include "compiler/base/err.h"

#define DECISIONS_PART	      (64u << 20) /* bytes of one file */
#define DECISIONS_REFUSED_MAX (64u << 20) /* bytes, of a session */

struct decisions {
	const char *dir; /* of the session; borrowed */
	int fd;
	int copy; /* everything goes here, too; -1: nowhere */
	unsigned part;
	uint64_t bytes; /* of this part */
	uint64_t refused_bytes;
	uint64_t unwritten; /* refusals that are only counted */
};

/* Nothing is open. */
void decisions_init(struct decisions *d);
must_check int decisions_open(struct decisions *d, const char *dir,
			      struct err *err);
enum decisions_kind {
	DECISIONS_PERMITTED,   /* or anything else but a refusal */
	DECISIONS_REFUSED,     /* as others before it */
	DECISIONS_REFUSED_NEW, /* of a destination, or for a reason */
};
/* A line with its LF. */
must_check int decisions_add(struct decisions *d, struct str line,
			     enum decisions_kind kind, struct err *err);
void decisions_done(struct decisions *d);

/* Between these lines, what is on no record: losses.h. */
#define DECISIONS_LOST_EVENT "lost"
enum decisions_lost {
	DECISIONS_LOST_EVENTS, /* of the trace */
	DECISIONS_LOST_LINES,  /* of the gate */
	DECISIONS_LOST_REFUSALS,
	DECISIONS_LOST_KINDS,
};
/* "trace", "decisions", "refusals": what such a line is "of". */
const char *decisions_lost_word(enum decisions_lost of);

/* Where a part is; the first one has the number 0. */
const char *decisions_path(struct arena *a, const char *dir, unsigned part);

#endif
