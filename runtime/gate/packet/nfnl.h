/*
 * Netlink with netfilter, as nflog.h, flows.h and conntrack.h speak it.
 * Messages: linux/netfilter/nfnetlink.h.
 */
#ifndef RUNTIME_GATE_PACKET_NFNL_H
#define RUNTIME_GATE_PACKET_NFNL_H

#include "compiler/base/arena.h"

#include <libmnl/libmnl.h>

/* Bound to a sum of groups (0: none), close-on-exec; NULL: errno says why. */
struct mnl_socket *nfnl_open(unsigned groups);
/* Room for what comes in a rush; the kernel's own will do where it refuses. */
void nfnl_widen(struct mnl_socket *nl);
/*
 * The beginning of a request: for a subsystem (NFNL_SUBSYS_) one of its
 * messages, of no address family. The attributes are put behind it.
 */
struct nlmsghdr *nfnl_begin(void *room, unsigned subsystem, unsigned message,
			    unsigned flags, uint32_t seq);
/*
 * Pass what has come to visit, at most reads times; waits for nothing. 0 or a
 * negative errno. *out_lost: how often there was no room for what came.
 */
must_check int nfnl_read(struct mnl_socket *nl, unsigned reads, mnl_cb_t visit,
			 void *data, uint64_t *out_lost);

#endif
