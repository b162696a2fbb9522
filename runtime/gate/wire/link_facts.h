/*
 * What rtnetlink says about a network namespace, and which interface is what.
 *
 * Pure: reads netlink messages that link.c fetched.
 */
#ifndef RUNTIME_GATE_WIRE_LINK_FACTS_H
#define RUNTIME_GATE_WIRE_LINK_FACTS_H

#include "compiler/base/addr.h"

#include <libmnl/libmnl.h>
#include <net/if.h>

#define LINK_IFS_MAX	  32u
#define LINK_GATEWAYS_MAX 16u

struct link_if {
	uint32_t index;
	char name[IFNAMSIZ];
	uint32_t mtu;
	uint8_t mac[6]; /* zeroes: it has none of that size */
	bool up, loopback;
	bool has_v4; /* some address */
	bool has_v6; /* one of global scope, unique-local included */
};

struct link_route {	/* a default route */
	uint32_t index; /* interface */
	bool v6;
};

struct link_facts {
	struct link_if ifs[LINK_IFS_MAX];
	uint32_t n_ifs;
	struct link_route defaults[LINK_GATEWAYS_MAX];
	uint32_t n_defaults;
	struct addr gateways[LINK_GATEWAYS_MAX];
	uint32_t n_gateways;
};

/* Take in one message; those of other kinds change nothing. */
void link_facts_add(struct link_facts *f, const struct nlmsghdr *h);

/* The interface of the default route, IPv4's first; NULL without one. */
const struct link_if *link_facts_uplink(const struct link_facts *f);
/* IPv6 reaches the world: a global address and a default route there. */
bool link_facts_ipv6(const struct link_facts *f);
/*
 * The interface towards the agent where a container runtime brings it: up,
 * with an address, neither loopback nor the uplink. NULL when there is none
 * yet, or more than one.
 */
const struct link_if *link_facts_agent(const struct link_facts *f);

#endif
