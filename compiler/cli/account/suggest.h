/*
 * The smallest policy that a session needed, for somebody to review.
 *
 * Of the network alone: what was permitted, by name where one is known. Several
 * names become `*.x`, and several paths their folder, only where three or more
 * siblings agree; never over names that belong to somebody each, nor where the
 * wildcard would reach a place that is known to take what it is given.
 *
 * Where the session's own policy is known, nothing is suggested that permits
 * more than that did, as compare.h tells; what could only be had by more is
 * left out, and listed. Where it is not known, what was seen is all there is to
 * go by: rules of http are kept wherever only requests were seen.
 */
#ifndef COMPILER_CLI_ACCOUNT_SUGGEST_H
#define COMPILER_CLI_ACCOUNT_SUGGEST_H

#include "compiler/cli/account/activity.h"

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
	suggest_rules http; /* sorted; none: whatever flows there */
};

struct suggest_grant {
	struct str dest; /* a name, "*.x", or an address */
	bool is_addr, is_v6, private;
	VEC(struct suggest_port) ports; /* sorted */
	bool merged;			/* into another: to be left out */
};
typedef VEC(struct suggest_grant) suggest_grants;

struct suggestion {
	suggest_grants grants; /* by destination, names first */
	bool bounded;	       /* the session's own policy is known */
	/* What was permitted and is not granted, and why, as people read it:
	 * sorted, each once. */
	suggest_texts unsaid; /* no rule can say it */
	suggest_texts beyond; /* what can would permit more than there was */
};

/* d: sorted. under: what the session ran under, IR_NORMALISED; or NULL. */
void suggest_make(struct arena *a, const struct activity *d,
		  const struct ir_policy *under, struct suggestion *out);
/*
 * YAML, ready to be a .membrane.yaml. session: as people call it, cleaned; log:
 * where its decisions are, for people.
 */
struct str suggest_yaml(struct arena *a, const struct suggestion *s,
			const struct activity *d, struct str session,
			const char *log);
/* The grants alone, as a policy by themselves. */
struct str suggest_grants_yaml(struct arena *a, const suggest_grants *grants);

/* --- suggest_merge.c ------------------------------------------------------ */

/* "/a/b" of "/a/b/c" and of "/a/b/c/"; empty at the root. */
struct str suggest_merge_folder(struct str path);
/* Sorted, each once, and none that another one permits as well. */
void suggest_merge_same(suggest_rules *list);
/* Folders in the place of siblings; list is as suggest_merge_same() left it. */
void suggest_merge_paths(struct arena *a, suggest_rules *list);
/*
 * `*.x` behind the grants of names alike, which are marked as merged; only
 * where may(ctx, grant) holds for it.
 */
void suggest_merge_names(struct arena *a, suggest_grants *list,
			 bool (*may)(void *ctx, const struct suggest_grant *g),
			 void *ctx);
int suggest_merge_by_port(const void *a, const void *b);

/* --- suggest_within.c ----------------------------------------------------- */

/*
 * Compiled by themselves, do the grants permit nothing that under does not?
 * False, too, where they do not compile or are too many to be compared. under:
 * IR_NORMALISED.
 */
bool suggest_within(const struct ir_policy *under,
		    const suggest_grants *grants);

#endif
