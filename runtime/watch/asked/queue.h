/*
 * Messages on their way from the thread that answers the agent to the one that
 * writes them down: a ring of bytes, for one writer and one reader. The writer
 * never waits: what finds no room is counted.
 */
#ifndef RUNTIME_WATCH_ASKED_QUEUE_H
#define RUNTIME_WATCH_ASKED_QUEUE_H

#include "compiler/base/str.h"
#include "runtime/watch/kernel/event.h"

#include <stdatomic.h>

struct queue {
	char *bytes;
	size_t room; /* a power of two */
	atomic_uint_fast64_t in, out; /* bytes so far */
	atomic_uint_fast64_t put, no_room; /* messages */
};

/* room: a power of two; touched as it is needed. False: no memory. */
must_check bool queue_init(struct queue *q, size_t room);
void queue_done(struct queue *q);
/* A copy of a message, which begins with its length. */
void queue_put(struct queue *q, const struct watch_head *message);
/* The next one, borrowed until queue_drop(); NULL: none. */
const struct watch_head *queue_next(struct queue *q);
void queue_drop(struct queue *q, const struct watch_head *message);
/* Bytes that wait. */
size_t queue_waiting(const struct queue *q);

#endif
