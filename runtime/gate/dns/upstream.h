/*
 * One question on its way to the upstream resolver and back.
 *
 * By UDP from a fresh socket, hence a fresh port, with a random id; by TCP
 * when the answer was truncated. A question is asked twice at most. Never
 * waits: the caller polls fd and calls upstream_step().
 */
#ifndef RUNTIME_GATE_DNS_UPSTREAM_H
#define RUNTIME_GATE_DNS_UPSTREAM_H

#include "runtime/gate/wire/dns_msg.h"

#include <poll.h>

#define UPSTREAM_WAIT_MS 2000
#define UPSTREAM_TRIES	 2u

struct upstream {
	int fd; /* -1 when idle */
	bool tcp, sending;
	uint16_t id;
	unsigned tries;
	int64_t deadline_ms;
	int broker;	/* makes its sockets; 0: they are the gate's own */
	size_t n, want; /* bytes done and to be done in this direction */
	uint8_t buf[2 + DNS_MSG_MAX];
};

enum upstream_event {
	UPSTREAM_WAIT,
	UPSTREAM_ANSWER,
	UPSTREAM_FAILED,
};

/* Idle, with no descriptor. broker: a channel of runtime/broker; 0: none. */
void upstream_init(struct upstream *u, int broker);
/* Ask server for q. UPSTREAM_WAIT, or UPSTREAM_FAILED at once. */
enum upstream_event upstream_ask(struct upstream *u, const struct addr *server,
				 uint16_t port, const struct dns_query *q,
				 int64_t now_ms);
/* What to wait for. */
struct pollfd upstream_poll(const struct upstream *u);
/*
 * After poll said something about fd, or the deadline has passed. On
 * UPSTREAM_ANSWER *out is set, to be released with dns_msg_done(). On that and
 * on UPSTREAM_FAILED u is idle again.
 */
enum upstream_event upstream_step(struct upstream *u, const struct addr *server,
				  uint16_t port, const struct dns_query *q,
				  bool ready, int64_t now_ms,
				  struct dns_answer *out);
void upstream_stop(struct upstream *u);

#endif
