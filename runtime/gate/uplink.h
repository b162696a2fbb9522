/*
 * The way out of the network namespace in which the gate enforces: one of five,
 * each found before there is a link to the agent, and one of them given back.
 */
#ifndef RUNTIME_GATE_UPLINK_H
#define RUNTIME_GATE_UPLINK_H

#include "runtime/gate/packet/podlink.h"
#include "runtime/gate/plan/names.h"
#include "runtime/gate/wire/link_facts.h"

enum uplink_kind {
	UPLINK_THERE,	/* Docker's: it was there before the gate */
	UPLINK_AWAITED, /* somebody makes it beside the gate */
	UPLINK_SOCKETS, /* none: a broker makes what leaves (runtime/broker) */
	UPLINK_POD,	/* a Pod's, which is the gate's to take */
	UPLINK_APART,	/* that of a Pod of its own: nothing is made or moved */
};

struct uplink {
	enum uplink_kind kind;
	int broker;	    /* UPLINK_SOCKETS: the descriptor; else 0 */
	struct podlink pod; /* UPLINK_POD */
};

/* Kubernetes', where no launcher is there. */
static inline bool uplink_of_pod(enum uplink_kind kind)
{
	return kind == UPLINK_POD || kind == UPLINK_APART;
}

/* First of all: go where the gate is to enforce, where that is not here. Zeroed
 * but for kind and broker. */
must_check int uplink_leave(struct uplink *u, struct err *err);
/*
 * There it is, and it leads out. The gateways are addresses of the host.
 * *out_ipv6: IPv6 reaches the world, too.
 */
must_check int uplink_find(struct uplink *u, struct link_facts *out,
			   struct names_hosts *hosts, bool *out_ipv6,
			   struct err *err);
/* Last of all. */
must_check int uplink_return(struct uplink *u, struct err *err);

#endif
