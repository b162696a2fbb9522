/*
 * The uplink of a gate in a Pod: taken out of the Pod's network namespace,
 * which is the agent's from then on, and given back at the end.
 *
 * All containers of a Pod share one network namespace, P, so here it is the
 * gate that leaves: into N, with the Pod's LINK_AGENT_IF. It takes along
 * addresses, routes, MTU and neighbours that are written down; what stays in P
 * is what link_gate_up() and link_agent_up() make. N goes with its last
 * process, and the interface with it, so a gate that is killed leaves P with
 * loopback.
 */
#ifndef RUNTIME_GATE_PACKET_PODLINK_H
#define RUNTIME_GATE_PACKET_PODLINK_H

#include "runtime/gate/packet/rtnl.h"
#include "runtime/gate/wire/link_copy.h"

struct podlink {
	struct rtnl pod; /* speaks of P */
	int netns;	 /* P */
	bool taken;
	struct link_copy copy;
};

/*
 * Look for the interface, and go into a network namespace without it, in which
 * loopback is up. Zeroed by the caller.
 *   -ENODEV  there is none that is up and leads out, or it is the end of
 *            another gate's link: this gate was started again
 */
must_check int podlink_leave(struct podlink *l, struct err *err);
/* Take it, with all that it has. */
must_check int podlink_take(struct podlink *l, struct err *err);
/*
 * Give it back, down but with its addresses, by which a CNI plugin finds what
 * it has to clean up. The agent's link goes. Nothing is done where nothing was
 * taken.
 */
must_check int podlink_return(struct podlink *l, struct err *err);

/*
 * A link between the gate's namespace, where it is called near, and another
 * one, where it is called far and is to those on the wire what the Pod's is:
 * the same addresses of both kinds, routes, MTU.
 *
 * there  speaks of the other namespace, netns is it
 */
must_check int podlink_twin(const struct podlink *l, const char *near,
			    const char *far, struct rtnl *there, int netns,
			    struct err *err);
/* The network namespace that the process is in: a descriptor, the caller's. */
must_check int podlink_netns(struct err *err);

/* From within P: nothing but loopback and LINK_AGENT_IF is up. */
must_check int podlink_alone(struct err *err);

#endif
