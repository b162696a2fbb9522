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

#define SEEN_NAMES   2048u
#define SEEN_ADDRS   8192u
#define SEEN_BUCKETS 4096u /* a power of two */

enum seen_kind {
	SEEN_A,
	SEEN_AAAA,
};
#define SEEN_KINDS 2

struct seen_name {
	char name[LIMIT_NAME_BYTES + 1]; /* empty: free */
	uint32_t generation; /* so that stale addresses are told apart */
	int32_t next;
	bool used; /* by a query or a connection since it was last resolved */
	int64_t due_ms[SEEN_KINDS]; /* when to renew; 0: not planned */
};

struct seen_addr {
	struct addr addr;
	bool live;
	int32_t name;
	uint32_t generation;
	int32_t next;
};

/* Zeroed by the caller, then seen_init(). */
struct seen {
	struct seen_name names[SEEN_NAMES];
	struct seen_addr addrs[SEEN_ADDRS];
	int32_t name_heads[SEEN_BUCKETS], addr_heads[SEEN_BUCKETS];
	uint32_t next_name, next_addr; /* slots to take next, in a ring */
};

void seen_init(struct seen *s);
/* The entry for name, made if needed; valid until the next call. */
struct seen_name *seen_name(struct seen *s, struct str name);
/* That name leads to addr. */
void seen_addr(struct seen *s, struct str name, const struct addr *addr);
/* The names that led to addr, newest first; at most max of them. */
unsigned seen_names_of(struct seen *s, const struct addr *addr,
		       struct seen_name **out, unsigned max);

#endif
