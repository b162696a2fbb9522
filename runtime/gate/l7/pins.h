/*
 * Which name led to which address, as HAProxy knows it: `name@address`.
 *
 * A pin is in HAProxy's map before the DNS answer leaves, and goes again when
 * the record's time is over, and PINS_GRACE_MS with it: a client that keeps a
 * connection open may be silent for as long, and its next request is looked
 * up again. New connections end with the record's time all the same, in the
 * packet filter. HAProxy has no clock for them, so this keeps the
 * mirror of what it put in; of fixed size, a pin that does not fit withholds
 * the answer. It is kept where there is no HAProxy, too: when the session's
 * policy changes, this says which addresses stay open.
 */
#ifndef RUNTIME_GATE_L7_PINS_H
#define RUNTIME_GATE_L7_PINS_H

#include "compiler/base/addr.h"
#include "compiler/base/err.h"
#include "compiler/base/limits.h"

#define PINS_MAX 65536u
#define PINS_GRACE_MS                                                          \
	360000		    /* more than gate.cfg's timeout http-keep-alive    \
			     */
#define PINS_BUCKETS 16384u /* a power of two */
#define PINS_SWEEP   256u   /* pins taken out at a time */

struct pin {
	char name[LIMIT_NAME_BYTES + 1]; /* empty: free */
	struct addr addr;
	int64_t until_ms;
	int32_t next; /* of its bucket, or of the free ones; -1: none */
	bool filed;   /* pins_file() has it */
};

/* Zeroed by the caller, then pins_init(). */
struct pins {
	const char *admin; /* runtime socket; NULL: there is no HAProxy */
	const char *list;  /* HAProxy's name for the map: its file */
	struct pin v[PINS_MAX];
	int32_t heads[PINS_BUCKETS];
	int32_t free;
	uint32_t n_ever; /* slots in use at some time, from the first */
	uint32_t n;
};

void pins_init(struct pins *p, const char *list);

/*
 * Tie addresses to a name until until_ms, or longer where that is so already.
 * A name that no Host and no SNI can spell (another byte than a letter, a
 * digit, '-', '_' or '.') is not tied, and 0 returned.
 *   -ENFILE  no room
 *   other    from admin_do(): the caller must withhold the answer
 */
must_check int pins_add(struct pins *p, struct str name,
			const struct addr *const *addrs, size_t n,
			int64_t until_ms, struct err *err);
/*
 * Write all that there is into a file, as the map that an HAProxy which is
 * about to start begins with; and, once that is in its place, tell it what has
 * come since.
 */
must_check int pins_file(struct pins *p, const char *path, struct err *err);
must_check int pins_follow(struct pins *p, const char *admin, struct err *err);
/* Take out what has run out, at most PINS_SWEEP of them. */
must_check int pins_sweep(struct pins *p, int64_t now_ms, struct err *err);

#endif
