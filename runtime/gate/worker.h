/*
 * The worker: what enforces, in the network namespace that faces the world.
 *
 * Loads the ruleset, makes the link, answers DNS, tells the launcher. PID 1
 * (supervisor.c) is at the other end of a SOCK_SEQPACKET pair; each message is
 * a struct worker_msg:
 *
 *	AGENT  to the worker: the agent's namespace is there
 *	LINK   from it: its interface is in that namespace; set it up
 *	UP     to it: done
 *	READY  from it: the session may begin; the rest of stdin is PID 1's. In
 *a Pod the sockets of its ports follow, where there are any OPEN   to it: the
 *Pod's fence is gone CHANGE to it: /plan holds another plan, which is to be
 *enforced RENEWED to it: what the launcher says of a renewal, behind the struct
 *	LISTENS to it: whether anybody may be asked from now on
 *	ANSWER to it: to a question that waits
 *
 * Either side ends the session by closing its end.
 */
#ifndef RUNTIME_GATE_WORKER_H
#define RUNTIME_GATE_WORKER_H

#include "runtime/gate/plan/planfile.h"
#include "runtime/gate/uplink.h"

#include <stdint.h>

enum worker_word {
	WORKER_AGENT = 1,
	WORKER_LINK,
	WORKER_UP,
	WORKER_READY,
	WORKER_CHANGE,
	WORKER_RENEWED,
	WORKER_LISTENS,
	WORKER_ANSWER,
	WORKER_OPEN,
};

struct worker_msg {
	uint8_t word;
	uint8_t ipv6;	     /* LINK: 1 if the link has it */
	uint8_t cut;	     /* CHANGE: 1 if connections are to be ended */
	uint8_t listens;     /* LISTENS: 1 if somebody does */
	uint8_t end;	     /* ANSWER: enum asking_end */
	uint32_t generation; /* CHANGE */
	uint32_t question;   /* ANSWER: its number */
	/* AGENT, UP: inodes of PID 1's, whose network is the agent's */
	uint32_t netns, pidns;
};

struct worker_args {
	enum uplink_kind uplink;
	int broker; /* UPLINK_SOCKETS: the descriptor; else 0 */
	const char *secrets, *roots; /* UPLINK_POD: folders; or NULL */
	const char *plan;	     /* directory */
	const char *sha256;	     /* of its manifest; or NULL: looked at */
	const struct addr *resolver; /* the host's; or NULL */
	struct planfile_vectors vectors;
	int supervisor; /* descriptor of the pair */
	int64_t start_ms;
};

/* The worker's whole life; returns the status to exit with. */
int worker_run(const struct worker_args *args);
/* --check: read the plan, let nft and HAProxy try it; nothing is left. */
int worker_check(const char *plan);
/* A line {"event":"error"} on stdout, at once. */
void worker_complain(const char *message);

#endif
