/*
 * Addresses that stand in for names, where names go by a proxy: each name has
 * one of its own, so that an address says which name is meant, and nobody is
 * asked for it. They are those for documentation (RFC 5737), which nobody has.
 *
 * Of fixed size, in memory that the worker shares with who speaks to the proxy:
 * the one writes, the other reads. Beside them stand the addresses of names
 * that go past the proxy, for as long as they may be called. An address goes to
 * another name only when its own was asked for the last time long ago: longer
 * than pins and elements of sets last, so that no connection is still on its
 * way there.
 */
#ifndef RUNTIME_GATE_ONWARD_STANDINS_H
#define RUNTIME_GATE_ONWARD_STANDINS_H

#include "compiler/base/addr.h"
#include "compiler/base/err.h"
#include "compiler/base/limits.h"

#define STANDINS_MAX	 762u	 /* three networks of 254 */
#define STANDINS_KEEP_MS 1200000 /* more than PINS_GRACE_MS and a TTL */
#define STANDINS_PORTS	 65536u
#define STANDINS_PASSING 8192u

struct standin {
	char name[LIMIT_NAME_BYTES + 1]; /* empty: nobody's yet */
	int64_t asked_ms;
};

struct standin_passing {
	struct addr addr;
	int64_t until_ms; /* monotonic; 0: nobody's */
};

struct standins {
	struct standin v[STANDINS_MAX];
	uint32_t n;
	struct standin_passing passing[STANDINS_PASSING];
	/* Ports of the agent whose last way failed: onward.h. */
	uint8_t failed[STANDINS_PORTS];
};

must_check int standins_new(struct standins **out, struct err *err);
/* The address of a name, now asked for; false: all are in use. */
must_check bool standins_take(struct standins *s, struct str name,
			      int64_t now_ms, struct addr *out);
/* A name that goes past the proxy has that address until then; false: there is
 * no room for more. */
must_check bool standins_pass(struct standins *s, const struct addr *addr,
			      int64_t now_ms, int64_t until_ms);
bool standins_passes(const struct standins *s, const struct addr *addr,
		     int64_t now_ms);
/* The name of an address; NULL: it is none, or nobody's. */
const char *standins_name(const struct standins *s, const struct addr *addr);

#endif
