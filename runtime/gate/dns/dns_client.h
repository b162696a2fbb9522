/*
 * One TCP connection of the agent to the resolver: RFC 7766, one question at a
 * time.
 *
 * Cuts what comes into questions, and gives each its answer; what they say is
 * for dns_gate.c. Never waits. One that says nothing for DNS_CLIENT_IDLE_MS is
 * closed, but for one whose question is on its way.
 */
#ifndef RUNTIME_GATE_DNS_DNS_CLIENT_H
#define RUNTIME_GATE_DNS_DNS_CLIENT_H

#include "runtime/gate/wire/dns_msg.h"

#include <poll.h>
#include <sys/socket.h>

#define DNS_CLIENT_IDLE_MS 10000

/* Beside the client: who polls looks at each client, and at no bytes. */
struct dns_client_room {
	uint8_t in[2 + DNS_MSG_QUERY_MAX];
	uint8_t out[2 + DNS_MSG_MAX];
};

struct dns_client {
	int fd;		     /* -1: closed */
	uint32_t generation; /* another one after each close */
	bool busy;	     /* its question is on its way */
	struct sockaddr_storage peer;
	int64_t deadline_ms;
	size_t n_in, n_out, sent;
	struct dns_client_room *room;
};

/* Closed; generation stays. The room is borrowed. */
void dns_client_init(struct dns_client *c, struct dns_client_room *room);
/* fd is the client's from now on, and does not block. */
void dns_client_open(struct dns_client *c, int fd,
		     const struct sockaddr_storage *peer, int64_t now_ms);
void dns_client_close(struct dns_client *c);
/* What to wait for. */
struct pollfd dns_client_poll(const struct dns_client *c);
/* After that: read and write what goes; may close it. */
void dns_client_step(struct dns_client *c, short revents, int64_t now_ms);
/*
 * The length of the question that is next, once it is whole and none is before
 * it; else 0. Closes a client whose next question has a length that none has.
 */
size_t dns_client_asks(struct dns_client *c);
/* Take that, n bytes as said; it is on its way until it is answered. */
void dns_client_take(struct dns_client *c, uint8_t *wire, size_t n);
/* Room for an answer, DNS_MSG_MAX bytes. */
uint8_t *dns_client_room(struct dns_client *c);
/* The first n bytes there are the answer; 0: there is none, and it is closed.
 */
void dns_client_answer(struct dns_client *c, size_t n);

#endif
