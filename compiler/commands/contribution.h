/*
 * What the workspace adds to the user's own policy: what is approved.
 *
 * The user's own policy is the built-in floor, the global file and what it
 * extends. Flags do not count: an approval is for every run, a flag for one.
 *
 * Its digest is made of what compiling made of the workspace's part, from the
 * very sources that the plan was made of: nothing is read a second time. It
 * does not depend on comments, order where order has no meaning, or spelling,
 * nor on what narrows; it depends on everything that adds, to the byte. Values
 * of variables are no part of it, their names are.
 */
#ifndef COMPILER_COMMANDS_CONTRIBUTION_H
#define COMPILER_COMMANDS_CONTRIBUTION_H

#include "compiler/base/sha256.h"
#include "compiler/driver.h"

/* What is said beside one of them: a request that it lets through, and what
 * was said of that until now; what a raw argument may do. */
struct contribution_note {
	struct str witness; /* empty: there is none */
	enum reason was, is;
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
	/* of adds: no two lists of texts have the same */
	char digest[SHA256_HEX_MAX];
};

/* c is ok. */
void contribution_make(struct compilation *c, struct contribution *out);

#endif
