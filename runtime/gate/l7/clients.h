/*
 * A unix socket of the gate's own, and whoever has it open: a fixed number of
 * clients, each of which says one thing, has so long for it, and is answered.
 *
 * The sockets lie in a directory that only HAProxy and the gate can enter. What
 * a client says is of a bounded length; what it means is for the caller, who
 * owns the room for it.
 */
#ifndef RUNTIME_GATE_L7_CLIENTS_H
#define RUNTIME_GATE_L7_CLIENTS_H

#include "compiler/base/err.h"

#include <poll.h>
#include <stdint.h>

struct client {
	int fd; /* -1: free */
	int64_t deadline_ms;
	uint32_t id; /* the caller's; 0 for a new one */
	size_t n;
	char *text; /* clients.room bytes */
};

struct clients {
	/* Set by the caller with the rest zeroed: size clients, whose texts are
	 * set. */
	struct client *v;
	size_t size, room;
	int64_t wait_ms; /* then a client is dropped */

	int listener;
};

/* After a client said more: its text so far. It may be dropped here. */
typedef void clients_fn(void *data, struct client *c);

/* A socket of this type at the path, which anybody may open who gets there. */
must_check int clients_bind(int type, const char *path, struct err *err);
must_check int clients_open(struct clients *s, const char *path,
			    struct err *err);
/* Fill exactly 1 + size entries. */
void clients_poll(const struct clients *s, struct pollfd *p);
/*
 * After poll, with the same entries. Whoever is gone, says more than there is
 * room for, or took too long is dropped.
 */
void clients_step(struct clients *s, const struct pollfd *p, int64_t now_ms,
		  clients_fn *fn, void *data);
/* One that is there. */
void clients_drop(struct client *c);

#endif
