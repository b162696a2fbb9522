/*
 * A first policy before it is written: items under their keys, each with the
 * reason for it, and what no policy says, which stays as comments. Texts come
 * from files that others wrote: an item goes through libyaml, a comment is
 * escaped, so that none of them can be more than it is.
 */
#ifndef COMPILER_CLI_INIT_PROPOSAL_H
#define COMPILER_CLI_INIT_PROPOSAL_H

#include "compiler/base/arena.h"
#include "compiler/base/str.h"

/* In the order in which they are written. */
enum proposal_key {
	PROPOSAL_EXTENDS,
	PROPOSAL_ALLOW,
	PROPOSAL_ASK,
	PROPOSAL_DENY,
	PROPOSAL_IGNORE,
	PROPOSAL_READONLY,
	PROPOSAL_ARGS,
	PROPOSAL_IMAGE, /* one, no list: a later one stays unsaid */
	PROPOSAL_KEYS,
};

struct proposal_item {
	struct str text;
	struct str why;
};
typedef VEC(struct proposal_item) proposal_items;

struct proposal {
	struct arena *a;
	proposal_items keys[PROPOSAL_KEYS];
	proposal_items unsaid; /* text: what was found */
};

/* Once for each text: the first reason stays. What is to be asked about is not
 * allowed, whichever comes first. */
void proposal_add(struct proposal *d, enum proposal_key key, struct str text,
		  struct str why);
void proposal_unsaid(struct proposal *d, struct str found, struct str why);
/* Has it an item at all? */
bool proposal_says(const struct proposal *d);
/*
 * The policy. head: lines of comments. With examples, each key that has no item
 * is there as one that is commented out.
 */
struct str proposal_text(const struct proposal *d, struct str head,
			 bool examples);

#endif
