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
#define SUGGEST_ASKS_MAX 100u /* nobody answers more */

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
	bool https;	    /* of http: over TLS alone */
};

struct suggest_grant {
	struct str dest; /* a name, "*.x", or an address */
	bool is_addr, is_v6, private;
	VEC(struct suggest_port) ports; /* sorted */
	bool merged;			/* into another: to be left out */
	bool once; /* of asks: no answer of theirs may last */
};
typedef VEC(struct suggest_grant) suggest_grants;

struct suggestion {
	suggest_grants grants; /* by destination, names first */
	suggest_grants asks;   /* likewise: what a person is asked about */
	bool bounded;	       /* the session's own policy is known */
	/* What was permitted and is not granted, and why, as people read it:
	 * sorted, each once. */
	suggest_texts unsaid; /* no rule can say it */
	suggest_texts beyond; /* what can would permit more than there was */
	uint64_t unasked;     /* destinations for which there was no room */
};

/* What is to be made of it. */
struct suggest_wish {
	/* What the session ran under, IR_NORMALISED; NULL: not known. */
	const struct ir_policy *under;
	/* Propose 'ask' for what was refused, but for what a denial or a person
	 * has refused, and for what a person permitted while it ran. */
	bool ask;
};

/*
 * d: sorted. What was permitted by an answer for once is asked about and never
 * granted, whatever is wished for.
 */
void suggest_make(struct arena *a, const struct activity *d,
		  const struct suggest_wish *wish, struct suggestion *out);
/*
 * YAML, ready to be a .membrane.yaml. session: as people call it, cleaned; log:
 * where its decisions are, for people.
 */
struct str suggest_yaml(struct arena *a, const struct suggestion *s,
			const struct activity *d, struct str session,
			const char *log);
/* Of that the comments, and the policy: appended. */
void suggest_comments(struct arena *a, const struct suggestion *s,
		      const struct activity *d, const char *log,
		      struct buf *out);
void suggest_policy_yaml(struct arena *a, const struct suggestion *s,
			 struct buf *out);
/* The grants alone, as a policy by themselves. */
struct str suggest_grants_yaml(struct arena *a, const suggest_grants *grants);
/* The entries of 'allow' or 'ask' that say the same, each on one line. */
void suggest_items(struct arena *a, const suggest_grants *grants,
		   suggest_texts *out);

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
