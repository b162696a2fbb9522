/*
 * What this session has resolved: which names led to an address, and which of
 * them are in use.
 *
 * Pure, of fixed size: when it is full the oldest entry goes, and all that is
 * lost is a name in a later record, or a renewal. What the kernel lets through
 * does not depend on it.
 */
#ifndef RUNTIME_GATE_DNS_RESOLVED_H
#define RUNTIME_GATE_DNS_RESOLVED_H

#include "compiler/base/addr.h"
#include "compiler/base/limits.h"

#define RESOLVED_NAMES	 2048u
#define RESOLVED_ADDRS	 8192u
#define RESOLVED_BUCKETS 4096u /* a power of two */

enum resolved_kind {
	SEEN_A,
	SEEN_AAAA,
};
#define RESOLVED_KINDS 2

struct resolved_name {
	char name[LIMIT_NAME_BYTES + 1]; /* empty: free */
	uint32_t generation; /* so that stale addresses are told apart */
	int32_t next;
	bool used; /* by a query or a connection since it was last resolved */
	int64_t due_ms[RESOLVED_KINDS]; /* when to renew; 0: not planned */
};

struct resolved_addr {
	struct addr addr;
	bool live;
	int32_t name;
	uint32_t generation;
	int32_t next;
};

/* Zeroed by the caller, then resolved_init(). */
struct resolved {
	struct resolved_name names[RESOLVED_NAMES];
	uint32_t n_names; /* of them, that were ever taken */
	struct resolved_addr addrs[RESOLVED_ADDRS];
	int32_t name_heads[RESOLVED_BUCKETS], addr_heads[RESOLVED_BUCKETS];
	uint32_t next_name, next_addr; /* slots to take next, in a ring */
};

void resolved_init(struct resolved *s);
/* The entry for name, made if needed; valid until the next call. */
struct resolved_name *resolved_name(struct resolved *s, struct str name);
/* That name leads to addr. */
void resolved_addr(struct resolved *s, struct str name,
		   const struct addr *addr);
/* The names that led to addr, newest first; at most max of them. */
unsigned resolved_names_of(struct resolved *s, const struct addr *addr,
			   struct resolved_name **out, unsigned max);

#endif
