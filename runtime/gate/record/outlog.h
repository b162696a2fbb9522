/*
 * Lines on their way to the launcher, through a queue of fixed size.
 *
 * What can be folded or left out asks for room first, and leaves half of the
 * queue to what cannot. For that the queue is emptied when it is full, which
 * waits for the launcher; only one that has made no room in OUTLOG_WAIT_MS costs
 * lines, and is not waited for again before it has read half of the queue: who
 * asks is not to stand behind a disk that has stalled. Lines lost are counted,
 * and the count goes out as soon as there is room.
 *
 * What nobody waits for goes out in batches: each write wakes up a chain of
 * processes, through Docker and its client to the launcher.
 */
#ifndef RUNTIME_GATE_RECORD_OUTLOG_H
#define RUNTIME_GATE_RECORD_OUTLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OUTLOG_BYTES   (256u << 10)
#define OUTLOG_WAIT_MS 1000
#define OUTLOG_ROUNDS  3
#define OUTLOG_BATCH   4096u /* bytes that do not wait for more */
#define OUTLOG_LATE_MS 20    /* nor does what has waited as long */

/* Zeroed by the caller, but for fd. */
struct outlog {
	int fd;
	bool closed;	 /* the reader is gone */
	bool stuck;	 /* waited for in vain, and half has not been read since */
	size_t head, n;	 /* of the ring */
	int64_t due_ms;	 /* what is in there goes out then; 0: at once */
	uint64_t n_lost; /* lines not yet reported as lost */
	char ring[OUTLOG_BYTES];
};

/* Take a whole line, wait for room, or count it as lost. */
void outlog_line(struct outlog *o, const char *line, size_t n);
/* The same, of a line that can wait for others. */
void outlog_line_later(struct outlog *o, const char *line, size_t n);
void outlog_lost(struct outlog *o, uint64_t n);
/* Room for what can be told later, or not at all? */
bool outlog_has_room(const struct outlog *o);
bool outlog_pending(const struct outlog *o);
/* How long what is pending may wait: 0 when it is due, -1 when nothing is. */
int outlog_wait_ms(const struct outlog *o, int64_t now_ms);
/* To be called when poll says that fd can be written to: at most PIPE_BUF
 * bytes, which a pipe that says so takes without blocking. */
void outlog_write(struct outlog *o);
/* Wait for the reader, but no longer than that. */
void outlog_drain(struct outlog *o, int timeout_ms);
/* At the end: as long as somebody reads, OUTLOG_ROUNDS times OUTLOG_WAIT_MS at
 * most. */
void outlog_finish(struct outlog *o);

#endif
