/*
 * A tree of words, each child found by its key: what names and paths are
 * sorted into.
 */
#ifndef COMPILER_ALGEBRA_SPACE_TRIE_H
#define COMPILER_ALGEBRA_SPACE_TRIE_H

#include "compiler/base/arena.h"

typedef VEC(uint32_t) trie_ids;

struct trie_node {
	struct str key, label; /* label: as it is shown */
	struct trie_node *parent, *sibling, *in_bucket;
	struct trie_node *children; /* in the order in which they came */
	struct trie_node *last;
	struct trie_node *star; /* names: any label */
	trie_ids here;		/* what ends here; the caller's */
	trie_ids deep;		/* names: what takes all that lies below */
};

struct trie {
	struct arena *a;
	struct trie_node root;
	struct trie_node **buckets;
	uint32_t mask, n;
};

void trie_init(struct trie *t, struct arena *a);
/* NULL when there is none, or no parent. */
struct trie_node *trie_child(const struct trie *t,
			     const struct trie_node *parent, struct str key);
struct trie_node *trie_child_make(struct trie *t, struct trie_node *parent,
				  struct str key, struct str label);

#endif
