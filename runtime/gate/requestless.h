/*
 * Decrypted connections that no request came by.
 *
 * A request has a record, and its connection needs no other; one on which
 * nothing was asked has none but its own. HAProxy says both, the requests and
 * the end of a connection, in either order when they are close together: so
 * that an end without a request waits a moment. Pure, of fixed size; a
 * connection is known by the client's port.
 */
#ifndef RUNTIME_GATE_REQUESTLESS_H
#define RUNTIME_GATE_REQUESTLESS_H

#include "runtime/gate/record/logline.h"

#define REQUESTLESS_MAX	    64u
#define REQUESTLESS_WAIT_MS 300

struct requestless_end {
	struct logline line;
	int64_t due_ms; /* 0: free */
};

struct requestless {			       /* zeroed by the caller */
	uint64_t asked[(UINT16_MAX + 1) / 64]; /* by port */
	struct requestless_end ends[REQUESTLESS_MAX];
	uint32_t n; /* of them, that wait */
};

/* A request came by the connection. */
void requestless_request(struct requestless *o, const struct logline *l);
/* The connection ended. False when there is no room to wait: record it. */
must_check bool requestless_end(struct requestless *o, const struct logline *l,
				int64_t now_ms);
/* One that has waited, to be recorded; now_ms INT64_MAX for any. */
must_check bool requestless_due(struct requestless *o, int64_t now_ms,
				struct logline *out);

#endif
