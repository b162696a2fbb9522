/*
 * The fence: a table of nftables that shuts a network namespace, but for
 * loopback, before and until a gate has made the agent's link there.
 *
 * In a Pod a container of its own raises it before any other starts, so that
 * there is no order of starts and ends in which an agent has the Pod's own
 * interface: a gate that does not come leaves the fence standing.
 */
#ifndef RUNTIME_GATE_PACKET_FENCE_H
#define RUNTIME_GATE_PACKET_FENCE_H

#include "compiler/base/err.h"

/*
 * In the network namespace of the caller, in one transaction; the kernel is
 * asked what it holds. One that stands is replaced by its like. With
 * CAP_NET_ADMIN alone.
 */
must_check int fence_raise(struct err *err);
/* Where there is none, too. */
must_check int fence_lift(struct err *err);

#endif
