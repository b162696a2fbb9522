/*
 * What the workspace adds to the user's own policy: what is approved.
 *
 * The user's own policy is the built-in floor, the global file and what it
 * extends. Flags do not count: an approval is for every run, a flag for one.
 *
 * Its digest is made of what compiling made of the workspace's part, from the
 * very sources that the plan was made of: nothing is read a second time. It
 * does not depend on comments, order where order has no meaning, or spelling;
 * it depends on everything that adds, to the byte, and on what of the same
 * workspace cuts into that: an approval is of both together. What narrows
 * something else is no part of it. Values of variables are none, their names
 * are.
 */
#ifndef COMPILER_CLI_TRUST_CONTRIBUTION_H
#define COMPILER_CLI_TRUST_CONTRIBUTION_H

#include "compiler/algebra/decide/decide.h"
#include "compiler/base/sha256.h"
#include "compiler/driver.h"

/* What is said beside one of them: a request that it lets through, and what
 * was said of that until now; what a raw argument may do. */
struct contribution_note {
	struct str witness; /* empty: there is none */
	struct decision was, is;
	bool widens;
	bool known; /* approved in this folder before, among others */
};

struct contribution {
	/*
	 * passes_additions(), but grants and patterns that, by compare.h, give
	 * no access of their own are left out (what they are about is denied,
	 * or given already), and access that no text explains is put in, as
	 * "access …". Empty: nothing to approve.
	 */
	ir_texts adds;
	VEC(struct contribution_note) notes; /* one for each of adds */
	/* passes_cuts(): denials that meet what is added, and the rest where
	 * anything is; sorted as they are */
	ir_texts cuts;
	/* What cut into it when it was approved last, and does no longer. Set
	 * by trust_state(). */
	ir_texts gone;
	/* When it was approved by a version that did not ask about cuts; empty:
	 * it was not, or has been again. Set by trust_state(). */
	struct str older;
	/* contribution_digest() */
	char digest[SHA256_HEX_MAX];
};

/* Of adds and cuts: no two pairs of lists have the same. */
void contribution_digest(struct arena *a, const ir_texts *adds,
			 const ir_texts *cuts, char out[SHA256_HEX_MAX]);
/* c is ok. */
void contribution_make(struct compilation *c, struct contribution *out);

#endif
