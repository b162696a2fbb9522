/*
 * How much went through flows that the packet filter passes by itself.
 *
 * The kernel counts: a rule of chain "granted" asks for the bytes of a flow,
 * which switches accounting on in the gate's network namespace (no sysctl of
 * the host's has to be set), and marks the flow when it has some. When the
 * kernel forgets such a flow it tells here; those that it still knows when the
 * session ends are asked for. A queue that overflows loses none: the kernel
 * tells again (NETLINK_BROADCAST_ERROR, nf_conntrack_ecache.c).
 *
 * A flow of TCP is forgotten two minutes after its end, ten seconds after a
 * reset; one of UDP after half a minute to two without a packet.
 */
#ifndef RUNTIME_GATE_PACKET_FLOWS_H
#define RUNTIME_GATE_PACKET_FLOWS_H

#include "compiler/base/err.h"
#include "runtime/gate/wire/flow_msg.h"

#include <libmnl/libmnl.h>

#define FLOWS_READS_MAX 64u /* receptions before others get their turn */

struct flows {
	struct mnl_socket *events, *asked;
};

typedef void flows_fn(void *data, const struct flow *flow);

/* With CAP_NET_ADMIN, before there are flows. */
must_check int flows_open(struct flows *f, struct err *err);
int flows_fd(const struct flows *f);
/* Hand over what was forgotten since, without waiting. */
must_check int flows_read(struct flows *f, flows_fn *fn, void *data,
			  struct err *err);
/* Those that are left: once, at the end. */
must_check int flows_rest(struct flows *f, flows_fn *fn, void *data,
			  struct err *err);
/* Does this kernel count? After the ruleset is loaded. */
bool flows_counted(void);

#endif
