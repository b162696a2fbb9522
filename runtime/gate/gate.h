/*
 * All that a gate's worker has: one per process.
 */
#ifndef RUNTIME_GATE_GATE_H
#define RUNTIME_GATE_GATE_H

#include "runtime/gate/ask/asking.h"
#include "runtime/gate/change.h"
#include "runtime/gate/dns/dns_gate.h"
#include "runtime/gate/l7/l7.h"
#include "runtime/gate/onward/onward.h"
#include "runtime/gate/requestless.h"
#include "runtime/gate/packet/flows.h"
#include "runtime/gate/packet/link.h"
#include "runtime/gate/packet/nflog.h"
#include "runtime/gate/record/fold.h"
#include "runtime/gate/record/outlog.h"
#include "runtime/gate/worker.h"

struct gate {
	struct worker_msg agent; /* its namespaces, for a tracer */
	struct generation now;
	struct change change;
	uint32_t asked; /* the generation that it is to be */
	struct names_hosts hosts;
	struct uplink uplink;
	struct link_facts facts;
	int pod_ports[LIMIT_PUBLISHED]; /* sockets, until PID 1 has them */
	struct nftset sets;
	struct resolved seen;
	struct dns_gate dns;
	struct l7 l7;
	struct standins *standins;
	struct asking asking;
	struct onward way; /* by a proxy, where names go by one */
	/* Each with a queue in the kernel: what is refused, however often,
	 * takes no room from what is permitted. */
	struct nflog permitted, refused;
	struct flows flows;
	bool counted; /* the kernel counts the bytes of flows */
	struct outlog out;
	struct fold folded; /* refusals, until out has room */
	struct requestless onward;
	uint64_t answers_lost; /* not yet told */
};

#endif
