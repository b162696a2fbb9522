/*
 * The gate's two links: the uplink that it finds, the agent's that it makes.
 *
 * By rtnetlink, in the network namespace of the calling process. The gate's
 * end is agent0, LINK_GATE_V4 and LINK_GATE_V6; the agent's is eth0
 * with LINK_AGENT_V4 and LINK_AGENT_V6, and default routes through the gate.
 * Neither end has an IPv6 link-local address: what is not used is not there;
 * each knows the other's hardware address from the start.
 */
#ifndef RUNTIME_GATE_PACKET_LINK_H
#define RUNTIME_GATE_PACKET_LINK_H

#include "compiler/base/agent_link.h"
#include "compiler/base/err.h"
#include "runtime/gate/wire/link_facts.h"

#include <sys/types.h>

#define LINK_AGENT_IF	     "eth0"
#define LINK_V4_BITS	     30
#define LINK_TPROXY_TABLE    100
#define LINK_TPROXY_PRIORITY 32765 /* before RT_TABLE_MAIN's */
#define LINK_V6_BITS	     64
#define LINK_SINK_IF	     "sink"
#define LINK_SINK_MTU	     65520u /* of the agent's link, then */
/* Docker's own addresses on the network need room too. */
#define LINK_BRIDGE_V4_BITS 29
#define LINK_BRIDGE_WAIT_MS 60000

/* Of a text that is right: one of agent_link.h. */
struct addr link_addr(const char *text);
must_check int link_facts_read(struct link_facts *out, struct err *err);
/* The same, once there is a default route: somebody makes it meanwhile.
 * -ETIMEDOUT: nobody did, within wait_ms. */
must_check int link_await_uplink(struct link_facts *out, int wait_ms,
				 struct err *err);
/*
 * In the uplink's place a link that leads nowhere, and default routes over it,
 * of IPv6 where *ipv6 says so; cleared where the kernel has none. What the
 * ruleset refuses has to be on its way somewhere.
 */
must_check int link_sink_up(bool *ipv6, struct err *err);
/*
 * Make the pair, its far end in the network namespace of process peer, and set
 * up this end. mtu is the uplink's.
 */
must_check int link_gate_up(pid_t peer, uint32_t mtu, bool ipv6,
			    struct err *err);
/*
 * Cut the agent off: set the link down. It goes with the namespaces that its
 * ends are in; removing it would wait for all processors.
 */
must_check int link_gate_down(struct err *err);
/* LINK_MACHINE_V4 is the gate's. */
must_check int link_machine_up(struct err *err);
/* In the agent's namespace: loopback, address, routes. */
must_check int link_agent_up(bool ipv6, struct err *err);
/*
 * The bridge link: wait for the interface that the container runtime brings,
 * and make it agent0. -ETIMEDOUT after LINK_BRIDGE_WAIT_MS.
 */
must_check int link_bridge_up(bool ipv6, struct err *err);
/*
 * Packets of IPv6 that the ruleset marks with GATE_MARK_TPROXY are for this
 * host, whatever their destination: HAProxy gets them (`tproxy`; a redirect
 * would lose that destination).
 */
must_check int link_tproxy_up(struct err *err);
/*
 * Forwarding between the links is on, or can be switched on. *ipv6 is cleared
 * when that of IPv6 cannot.
 */
must_check int link_forwarding(bool *ipv6, struct err *err);

#endif
