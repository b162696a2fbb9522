/*
 * Places where somebody else can read what is sent there, of which there is a
 * table: policies/third-party.def. What a policy lets reach them is lint's to
 * say (compiler/lint/third_party.c); here is who they are.
 */
#ifndef COMPILER_BASE_THIRD_PARTY_H
#define COMPILER_BASE_THIRD_PARTY_H

#include "compiler/base/str.h"

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
/* How many there are. */
enum {
	THIRD_PARTIES = 0
#define THIRD_PARTY(...) +1
#define SHARED(...) +1
#include "policies/third-party.def"
};
/* In the order of the file; NULL at the end. */
const struct third_party *third_party_at(size_t i);

/*
 * Whose place a name is, for who is told of it: the row that is about such a
 * request where one is, else the first that is about the name. Of names that
 * belong to somebody each, whoever gives them away. Method and path: empty
 * where they are not known. NULL: no row is.
 */
const struct third_party *third_party_of(struct str name, struct str method,
					 struct str path);

#endif
