/*
 * What makes an interface what it is in its network namespace, kept so that it
 * can have that in another one: addresses, routes out of it, neighbours that
 * somebody wrote down.
 *
 * Pure: reads messages of rtnetlink(7), and keeps of each what a request of the
 * same kind says. What the kernel makes by itself (the route to the prefix of
 * an address, neighbours that it asked for) is left out, as are tables of
 * routes other than the main one.
 */
#ifndef RUNTIME_GATE_WIRE_LINK_COPY_H
#define RUNTIME_GATE_WIRE_LINK_COPY_H

#include "compiler/base/addr.h"

#include <linux/netlink.h>

#define LINK_COPY_BYTES 32768u

enum link_copy_kind { /* in the order in which they are wanted back */
		      LINK_COPY_ADDRESS,
		      LINK_COPY_DIRECT, /* a route without a gateway: to the
					   gateway, perhaps */
		      LINK_COPY_ROUTE,
		      LINK_COPY_NEIGHBOUR,
		      LINK_COPY_KINDS
};

struct link_copy {
	uint32_t index; /* of the interface; set by the caller, the rest zeroed
			 */
	bool full;	/* there was more than there is room for */
	bool has_default; /* a route to everywhere is among them */
	size_t n;	  /* bytes */
	uint64_t room[LINK_COPY_BYTES / 8u];
};

/* Take in one message; those of other kinds and interfaces change nothing. */
void link_copy_add(struct link_copy *c, const struct nlmsghdr *h);
/* The one behind last (NULL: the first) of that kind; NULL: there is none. */
const struct nlmsghdr *link_copy_next(const struct link_copy *c,
				      enum link_copy_kind kind,
				      const struct nlmsghdr *last);
/*
 * The request that makes it again, at an interface with that index, into room
 * (8-byte aligned, as large as kept->nlmsg_len): but for flags and number,
 * which the sender gives.
 */
void link_copy_write(const struct nlmsghdr *kept, uint32_t index, void *room);
/* Is it one of the addresses? */
bool link_copy_has(const struct link_copy *c, const struct addr *addr);

#endif
