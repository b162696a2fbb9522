/*
 * What the packet filter logs: refusals in one NFLOG group, new connections
 * that it lets through by itself in another.
 *
 * The kernel's queue of each is bounded; what it drops is counted. Each record
 * comes at once, not in batches.
 */
#ifndef RUNTIME_GATE_PACKET_NFLOG_H
#define RUNTIME_GATE_PACKET_NFLOG_H

#include "compiler/base/err.h"
#include "runtime/gate/wire/packet.h"

#include <libmnl/libmnl.h>

#define NFLOG_HEAD_BYTES 128u /* of each packet */
#define NFLOG_READS_MAX	 64u  /* receptions before others get their turn */

struct nflog {
	struct mnl_socket *nl;
};

/* prefix is a view that ends with the call; as is packet. */
typedef void nflog_fn(void *data, struct str prefix,
		      const struct packet *packet);

must_check int nflog_open(struct nflog *l, uint16_t group, struct err *err);
int nflog_fd(const struct nflog *l);
/*
 * Hand over what is there, without waiting. *out_lost counts the times that
 * the kernel's queue overflowed.
 */
must_check int nflog_read(struct nflog *l, nflog_fn *fn, void *data,
			  uint64_t *out_lost, struct err *err);

#endif
