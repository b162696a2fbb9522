/*
 * Places where somebody else can read what an agent sends: which of those that
 * are known (policies/third-party.def) does a policy let it reach?
 *
 * By name, pattern, port, method and path, exactly; denials count. Grants by
 * address say nothing about names and reach none here.
 */
#ifndef COMPILER_LINT_THIRD_PARTY_H
#define COMPILER_LINT_THIRD_PARTY_H

#include "compiler/ir/ir.h"

enum third_party_kind {
	THIRD_PARTY_FORGE,
	THIRD_PARTY_PASTE,
	THIRD_PARTY_FILES,
	THIRD_PARTY_STORAGE,
	THIRD_PARTY_REGISTRY,
	THIRD_PARTY_OWN_KEY,
	THIRD_PARTY_MESSAGES,
	THIRD_PARTY_TELEMETRY,
	THIRD_PARTY_TUNNEL,
	THIRD_PARTY_CATCHER,
	THIRD_PARTY_SHORTENER,
	THIRD_PARTY_PROXY,
	THIRD_PARTY_RESOLVER,
	THIRD_PARTY_HOSTING,
};
const char *third_party_kind_name(enum third_party_kind kind); /* "own-key" */

/* A row of the table. */
struct third_party {
	struct str dest; /* a name or a pattern */
	enum third_party_kind kind;
	bool shared;	     /* names of somebody's each: wildcards reach it */
	bool any_port;	     /* any TCP port, else 80 and 443 */
	const char *methods; /* "POST,PUT", or "*" */
	struct str path;     /* a prefix, "/" for all */
	const char *what;    /* "gists, public or known by …" */
	const char *source;  /* a URL: who says so */
};
/* In the order of the file; NULL at the end. */
const struct third_party *third_party_at(size_t i);

/* A row and a grant that reaches it. */
struct third_party_hit {
	const struct third_party *place;
	const struct ir_grant *grant;
	struct str name; /* what of the row's names it is: a name or pattern */
};
typedef VEC(struct third_party_hit) third_party_hits;

/*
 * All of p, IR_NORMALISED: the grants in their order, and for each the rows in
 * theirs. p is borrowed by *out.
 */
void third_party_reach(struct arena *a, const struct ir_policy *p,
		       third_party_hits *out);

#endif
