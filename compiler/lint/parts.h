/*
 * The checks, each in the file named above it; lint.c calls them all.
 */
#ifndef COMPILER_LINT_PARTS_H
#define COMPILER_LINT_PARTS_H

#include "compiler/base/gitignore.h"
#include "compiler/ir/doc.h"
#include "compiler/ir/ir.h"

/* --- literals.c ---------------------------------------------------------- */

void literals_lint(struct pass_ctx *c, const struct ir_policy *p);

/* --- grants.c ------------------------------------------------------------ */

/* denied: one for each grant of p, of which nothing more needs to be said. */
void grants_lint(struct pass_ctx *c, const struct ir_policy *p,
		 const bool *denied);

/* --- quic.c -------------------------------------------------------------- */

/* denied: one for each grant of p, of which nothing more needs to be said. */
void quic_lint(struct pass_ctx *c, const struct ir_policy *p,
	       const bool *denied);

/* --- uses.c -------------------------------------------------------------- */

/*
 * Warn of grants that are denied or overlap, and of rules that others hold
 * whole or that are there twice. Returns one bool for each
 * grant of p: it is denied, and said to be. Where there are too many
 * combinations for the algebra (limits.h), only what is there twice is found.
 */
const bool *uses_lint(struct pass_ctx *c, const struct ir_policy *p);

/* --- mistaken.c ---------------------------------------------------------- */

/* What somebody who wrote this pattern may have thought, and what is so. */
struct mistaken {
	const char *fact; /* a clause; NULL: it says what it seems to */
	struct str help;
};

/* workspace: its path on the host. */
struct mistaken mistaken_pattern(struct arena *a, struct str line,
				 struct str workspace);

/* --- secret_files.c ------------------------------------------------------ */

/* Bytes of a file that are looked at. */
#define SECRET_FILES_READ 16384u

struct secret_file {
	const char *needles; /* "" or a list divided by '|' */
	const char *what;    /* "a private key" */
	enum {
		SECRET_FILE_ANY,
		SECRET_FILE_TEXT,
		SECRET_FILE_SECRET,
		SECRET_FILE_NEVER,
	} check;
};

/* secret_files.def, compiled once. */
struct gitignore *secret_files_new(struct arena *a);
/* The row for a path from the root of the workspace; NULL for most. */
const struct secret_file *secret_files_row(const struct gitignore *g,
					   struct str path);
/* Does what is at its beginning say so, too? */
bool secret_files_holds(const struct secret_file *row, struct str beginning);

/* --- third_party.c ------------------------------------------------------- */

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
