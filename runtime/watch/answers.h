/*
 * What the resolver told the agent, joined to the process that had asked.
 *
 * The gate tells of each answer, by a line of JSON: the port that it went to
 * and the message's number say which question it belongs to, which was seen
 * being sent. By TCP it is the connection that says so. An answer that no
 * question is found for in a second is an event all the same, of no process.
 * Fixed room: the oldest question is forgotten for a new one, and an answer
 * that there is no room for is counted.
 */
#ifndef RUNTIME_WATCH_ANSWERS_H
#define RUNTIME_WATCH_ANSWERS_H

#include "compiler/base/err.h"
#include "runtime/watch/record.h"

#define ANSWERS_LINE_MAX 4096u
#define ANSWERS_MS	 1000

struct answers;

/* boot_epoch_ns: added to times since boot. NULL: no memory. */
struct answers *answers_new(int64_t boot_epoch_ns);
void answers_free(struct answers *a);

/* A datagram with a question, or a connection to a resolver. */
void answers_asked(struct answers *a, const struct record *r);
/*
 * One line of the gate's, without its LF.
 *   -EPROTO  it is none
 */
must_check int answers_take(struct answers *a, struct str line, int64_t now_ms,
			    struct err *err);
/*
 * The next answer that is an event now; all: whatever is left. It is *out until
 * the next call.
 */
must_check bool answers_next(struct answers *a, int64_t now_ms, bool all,
			     struct record *out);
/* How many are missing: nobody could tell of them. */
uint64_t answers_lost(const struct answers *a);

#endif
