/*
 * One question to rtnetlink(7), and its answer read to the end.
 *
 * A socket speaks of the network namespace that it was opened in, wherever the
 * process is by then.
 */
#ifndef RUNTIME_GATE_PACKET_RTNL_H
#define RUNTIME_GATE_PACKET_RTNL_H

#include "compiler/base/err.h"

#include <libmnl/libmnl.h>
#include <stdint.h>

struct rtnl {
	struct mnl_socket *nl; /* NULL: none is open */
	uint32_t seq;
	/* Large enough for what one recv returns, aligned for nlmsghdr. */
	uint64_t room[4096];
};

void rtnl_done(struct rtnl *rt);
#define auto_rtnl __attribute__((cleanup(rtnl_done)))

/* Zeroed by the caller; groups: RTMGRP_*, of what happens meanwhile. */
must_check int rtnl_open(struct rtnl *rt, unsigned groups, struct err *err);
/* In rt's room, which one message has at a time. */
struct nlmsghdr *rtnl_begin(struct rtnl *rt, uint16_t type, uint16_t flags);
/* Send, and read the answer to its end; cb may be NULL. What the kernel says:
 * 0 or a negative errno. */
must_check int rtnl_talk(struct rtnl *rt, const struct nlmsghdr *h, mnl_cb_t cb,
			 void *data);
/* All objects of a kind; body: the size of the header that a request has. */
must_check int rtnl_dump(struct rtnl *rt, uint16_t type, size_t body,
			 mnl_cb_t cb, void *data, struct err *err);

/* Two ends of one cable (veth(4)). */
struct rtnl_pair {
	const char *name, *other;
	const uint8_t *mac, *other_mac; /* NULL: the kernel's to choose */
	pid_t peer; /* whose network the other is in; 0: this one */
	uint32_t mtu;
};
must_check int rtnl_make_pair(struct rtnl *rt, const struct rtnl_pair *p,
			      struct err *err);
/* Into the network namespace that fd is. */
must_check int rtnl_move(struct rtnl *rt, uint32_t index, int fd,
			 struct err *err);

/* A change of a link, RTM_NEWLINK: of its flag "up" where change is set. */
struct nlmsghdr *rtnl_begin_link(struct rtnl *rt, uint32_t index, bool change,
				 bool up);
must_check int rtnl_set_up(struct rtnl *rt, uint32_t index, bool up,
			   struct err *err);
/* No IPv6 address that nobody asked for. A kernel without IPv6 has none. */
must_check int rtnl_no_link_local(struct rtnl *rt, uint32_t index,
				  struct err *err);

#endif
