/*
 * The smallest policy that a session needed, for somebody to review.
 *
 * Of the network alone: what was permitted, by name where one is known. Several
 * names become `*.x`, and several paths their folder, only where three or more
 * siblings agree; never over names that belong to somebody each, nor where the
 * wildcard would reach a place that is known to take what it is given.
 */
#ifndef COMPILER_COMMANDS_SUGGEST_H
#define COMPILER_COMMANDS_SUGGEST_H

#include "compiler/commands/deeds.h"

#define SUGGEST_SIBLINGS 3u

typedef VEC(struct str) suggest_texts;

struct suggest_http {
	struct str method, path; /* path: a prefix at a segment's end */
};
typedef VEC(struct suggest_http) suggest_rules;

/* One port of one destination. */
struct suggest_port {
	enum ir_proto proto;
	uint16_t port;
	bool unseen;	    /* something went there that was no request */
	suggest_rules http; /* sorted; when all of it was requests */
};

struct suggest_grant {
	struct str dest; /* a name, "*.x", or an address */
	bool is_addr, is_v6, private;
	VEC(struct suggest_port) ports; /* sorted */
	bool merged;			/* into another: to be left out */
};
typedef VEC(struct suggest_grant) suggest_grants;

/* d: sorted. In the order of the destinations, names first. */
void suggest_make(struct arena *a, const struct deeds *d, suggest_grants *out);
/*
 * YAML, ready to be a .membrane.yaml. session: as people call it, cleaned; log:
 * where its decisions are, for people.
 */
struct str suggest_yaml(struct arena *a, const suggest_grants *grants,
			const struct deeds *d, struct str session,
			const char *log);

#endif
