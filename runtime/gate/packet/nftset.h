/*
 * Elements of the named sets in the kernel: which addresses the agent may
 * reach for how long.
 *
 * Sets are table `inet membrane`, host4_K and host6_K for port class K, http4_K
 * and http6_K for class LIMIT_CLASSES + K, guard4_K and guard6_K for class
 * 2 * LIMIT_CLASSES + K, quic4_K and quic6_K for 3 * LIMIT_CLASSES + K,
 * ask4_K and ask6_K for 4 * LIMIT_CLASSES + K, past4_1 and past6_1 for the
 * last; they exist already (ruleset.h). The kernel lets nobody read a timeout
 * back in time, so this keeps a mirror of what it put in.
 */
#ifndef RUNTIME_GATE_PACKET_NFTSET_H
#define RUNTIME_GATE_PACKET_NFTSET_H

#include "compiler/base/addr.h"
#include "compiler/base/buf.h"
#include "compiler/base/err.h"

#include <libmnl/libmnl.h>

#define NFTSET_TTL_MIN_S 60u
#define NFTSET_MIRROR	 65536u /* elements of all sets; a power of two */

struct nftset_elem {
	struct addr addr;
	uint16_t class; /* from 1 */
	uint32_t ttl_s;
};

struct nftset_mirror {
	int64_t until_ms; /* monotonic; 0: never used */
	struct addr addr;
	uint16_t class;
};

/* Zeroed by the caller, then nftset_open(). */
struct nftset {
	struct mnl_socket *nl;
	uint32_t seq;
	uint32_t n_used; /* mirror slots that are not free */
	struct nftset_mirror mirror[NFTSET_MIRROR];
	/* What another ruleset's sets would begin with. */
	struct nftset_mirror next[NFTSET_MIRROR];
	uint32_t n_next;
};

must_check int nftset_open(struct nftset *s, struct err *err);

/*
 * Let the agent reach addresses for a while, each at the ports of its class.
 *
 * s       open; borrowed
 * v, n    IPv4 or IPv6; ttl_s is raised to NFTSET_TTL_MIN_S, so that a TTL of
 *         0 still leaves the client time to connect
 * now_ms  monotonic time
 *
 * On 0 the kernel holds every element for at least that long. Otherwise *err
 * says why, and the caller must withhold the DNS answer:
 *   -ENFILE  the mirror is full
 *   -EPROTO  a reply that is not ours, or none
 *   other    what the kernel said
 * Renewing a timeout is one transaction {delete, add}, which is what kernels
 * before 6.12 take too; the packet path never sees the element gone.
 */
must_check int nftset_add(struct nftset *s, const struct nftset_elem *v,
			  size_t n, int64_t now_ms, struct err *err);

/*
 * The elements that the sets of another ruleset begin with: forget those that
 * were noted; note one, until when (false: no room; it is left out, and its
 * name has to be asked for again); write them as nft's commands; and say that
 * the kernel has taken these, and no others.
 */
void nftset_next(struct nftset *s);
bool nftset_note(struct nftset *s, const struct addr *addr, uint16_t class,
		 int64_t until_ms);
void nftset_text(const struct nftset *s, int64_t now_ms, struct buf *out);
void nftset_take(struct nftset *s);

#endif
