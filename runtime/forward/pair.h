/*
 * Two stream sockets, and the bytes between them: what one says the other
 * hears, until both have said their last. Each way has a buffer of its own and
 * reads nothing more while that is full, so that a slow reader slows its writer
 * alone. A way's end is passed on by itself (shutdown); where a socket breaks,
 * both are reset.
 */
#ifndef RUNTIME_FORWARD_PAIR_H
#define RUNTIME_FORWARD_PAIR_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#define PAIR_BUF (32u << 10) /* bytes, for each way */

struct pair_way {
	size_t beg, n; /* of buf: what was read and not yet written */
	bool ended;    /* there is no more to read */
	bool told;     /* and the other end knows */
	char buf[PAIR_BUF];
};

struct pair {
	int end[2];		/* end[0] -1: none */
	struct pair_way way[2]; /* from end[i] to the other */
};

/* Takes both, which must not block. */
void pair_begin(struct pair *p, int take_a, int take_b);
/* What it waits for. */
void pair_poll(const struct pair *p, struct pollfd out[2]);
/* False: it is over, and both are closed. */
bool pair_step(struct pair *p, const struct pollfd got[2]);
/* Close both; broken: the peers are to know that something is missing. */
void pair_end(struct pair *p, bool broken);
/* Close a socket whose peer is to see a reset, and no end. */
void pair_reset(int take_fd);

#endif
