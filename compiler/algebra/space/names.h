/*
 * All names there are, in classes: two names of a class match the same of the
 * patterns that were added.
 *
 * A trie of the patterns' labels, last label first, walked as the automaton
 * that it is: what is visited are the sets of its nodes that some name leads
 * to. '*' is one label, a leading '**' one or more, "**" alone any name.
 */
#ifndef COMPILER_ALGEBRA_SPACE_NAMES_H
#define COMPILER_ALGEBRA_SPACE_NAMES_H

#include "compiler/base/arena.h"

struct names;

struct names *names_new(struct arena *a);
/* A name or a pattern, canonical, and not '*' alone; id is the caller's and not
 * looked at. */
void names_add(struct names *n, struct str pattern, uint32_t id);

/* One class: a name of it that people could have, and what matches. */
struct names_class {
	struct str name;
	const uint32_t *ids; /* in no order; gone after the visit */
	uint32_t n;
};
typedef void (*names_visit)(void *ctx, const struct names_class *c);
/*
 * Visit each class, the names that nothing matches included; a few twice. False
 * when there are more than LIMIT_NAME_CLASSES: then some were left out.
 */
must_check bool names_each(struct names *n, names_visit visit, void *ctx);

#endif
