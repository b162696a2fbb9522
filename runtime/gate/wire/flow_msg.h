/*
 * What the kernel's connection tracking says of a flow, as netlink tells it:
 * who with whom, and how much.
 *
 * Pure; any bytes are safe. Messages of ctnetlink, linux/netfilter/
 * nfnetlink_conntrack.h: that a flow is forgotten, or one of a dump.
 */
#ifndef RUNTIME_GATE_WIRE_FLOW_MSG_H
#define RUNTIME_GATE_WIRE_FLOW_MSG_H

#include "runtime/gate/wire/packet.h"

#include <linux/netlink.h>

struct flow_counter {
	uint64_t packets, bytes; /* bytes: of IP packets, their headers too */
};

struct flow {
	struct packet packet; /* as the agent sent its first */
	uint32_t mark;	      /* GATE_MARK_FLOW: chain "granted" put it on */
	struct flow_counter sent, received;
};

/* False when it is no flow of TCP or UDP with counters. h is whole. */
bool flow_msg_parse(const struct nlmsghdr *h, struct flow *out);

#endif
