/*
 * networkpolicy.yaml, read and walked: what a cluster lets a Pod send, and lets
 * in to it, with the Pods' labels as the manifests beside it have them.
 *
 * The reader takes the bytes of the artefact, in the language that
 * compiler/emit/kubernetes writes, and refuses each key that it does not know
 * (namespaceSelector and matchExpressions, a port by name): what was edited by
 * hand is understood wholly or not at all.
 *
 * The evaluator is the cluster's part as networking.k8s.io/v1 has it: policies
 * that select a Pod add up; a Pod that none selects, in that direction, is
 * open; a rule without ports is of all ports, and one without peers of
 * everybody. An address is in no Pod here, and a Pod is no address: what a CNI
 * plugin makes of a Pod's address in an ipBlock is its own, by the
 * documentation of that.
 */
#ifndef COMPILER_PROVE_BACKSTOP_H
#define COMPILER_PROVE_BACKSTOP_H

#include "compiler/base/addr.h"
#include "compiler/base/arena.h"
#include "compiler/manifest/manifest.h"

enum backstop_way { BACKSTOP_OUT, BACKSTOP_IN, BACKSTOP_WAYS };

/* As IANA has them: tcp(7), udp(7), sctp(7). */
#define BACKSTOP_TCP  6u
#define BACKSTOP_UDP  17u
#define BACKSTOP_SCTP 132u

struct backstop_label {
	struct str key, value;
};
typedef VEC(struct backstop_label) backstop_labels;

struct backstop_net {
	struct cidr net;
	uint32_t line;
};
struct backstop_peer {
	uint32_t line;
	bool is_pods; /* of the policy's namespace, by labels; else a block */
	backstop_labels labels;
	struct cidr net;
	VEC(struct backstop_net) except;
};
struct backstop_port {
	uint32_t line, proto, lo, hi;
};
struct backstop_rule {
	uint32_t line;
	VEC(struct backstop_port) ports; /* none: all */
	VEC(struct backstop_peer) peers; /* none: everybody */
};
typedef VEC(struct backstop_rule) backstop_rules;

struct backstop_policy {
	uint32_t line;
	backstop_labels selects; /* none: all Pods */
	bool holds[BACKSTOP_WAYS];
	backstop_rules rules[BACKSTOP_WAYS];
};

struct backstop {
	VEC(struct backstop_policy) policies;
};

/* False, with *fault, where it is none. All memory is the arena's. */
must_check bool backstop_read(struct arena *a, struct str text,
			      struct backstop *out,
			      struct manifest_fault *fault);
/* The labels of the Pods that a manifest makes: the first that makes any. */
must_check bool backstop_pod(struct arena *a, struct str text,
			     backstop_labels *out,
			     struct manifest_fault *fault);

/* The other end: an address, or a Pod. */
struct backstop_end {
	const struct addr *addr;
	const backstop_labels *pod; /* addr is NULL */
	bool elsewhere;		    /* the Pod is in another namespace */
};

struct backstop_said {
	bool lets;
	/* What lets it through, or is nearest to doing so; 0: nothing is. */
	uint32_t line;
};

/* Is the address in the block, and not in what that leaves out? */
bool backstop_peer_has(const struct backstop_peer *p, const struct addr *addr);
bool backstop_selects(const struct backstop_policy *p,
		      const backstop_labels *pod);
struct backstop_said backstop_says(const struct backstop *b,
				   const backstop_labels *pod,
				   enum backstop_way way,
				   const struct backstop_end *end,
				   uint32_t proto, uint16_t port);

#endif
