/*
 * Lines on their way to the launcher, through a queue of fixed size.
 *
 * Nothing here waits: what does not fit is dropped whole and counted, and the
 * count goes out as soon as there is room.
 */
#ifndef RUNTIME_GATE_OUTLOG_H
#define RUNTIME_GATE_OUTLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OUTLOG_BYTES (256u << 10)

/* Zeroed by the caller, but for fd. */
struct outlog {
	int fd;
	bool closed;	 /* the reader is gone */
	size_t head, n;	 /* of the ring */
	uint64_t n_lost; /* lines not yet reported as lost */
	char ring[OUTLOG_BYTES];
};

/* Take a whole line, or count it as lost. */
void outlog_line(struct outlog *o, const char *line, size_t n);
void outlog_lost(struct outlog *o, uint64_t n);
/* Room for what is less than a decision? */
bool outlog_has_room(const struct outlog *o);
bool outlog_pending(const struct outlog *o);
/* To be called when poll says that fd can be written to: at most PIPE_BUF
 * bytes, which a pipe that says so takes without blocking. */
void outlog_write(struct outlog *o);
/* Wait for the reader, but no longer than that. */
void outlog_drain(struct outlog *o, int timeout_ms);

#endif
