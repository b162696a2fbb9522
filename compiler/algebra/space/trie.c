#include "compiler/algebra/space/trie.h"

#include "compiler/base/hash.h"

void trie_init(struct trie *t, struct arena *a)
{
	*t = (struct trie){.a = a, .mask = 63};
	t->buckets = arena_array(a, t->mask + 1, sizeof(*t->buckets));
}

/* Over the key, begun with the parent. */
static uint32_t hash_of(const struct trie_node *parent, struct str key)
{
	return hash64_folded(hash64_bytes(
		((uintptr_t)parent >> 4) + HASH64_SEED, key.p, key.n));
}

struct trie_node *trie_child(const struct trie *t,
			     const struct trie_node *parent, struct str key)
{
	struct trie_node *c = NULL;

	if (parent)
		c = t->buckets[hash_of(parent, key) & t->mask];
	while (c && (c->parent != parent || !str_eq(c->key, key)))
		c = c->in_bucket;
	return c;
}

static void file_in(struct trie *t, struct trie_node *c)
{
	struct trie_node **bucket =
		&t->buckets[hash_of(c->parent, c->key) & t->mask];

	c->in_bucket = *bucket;
	*bucket = c;
}

static void grow_trie(struct trie *t)
{
	struct trie_node **old = t->buckets;
	uint32_t end = t->mask + 1;

	t->mask = end * 2 - 1;
	t->buckets = arena_array(t->a, t->mask + 1, sizeof(*t->buckets));
	for (uint32_t i = 0; i < end; i++)
		for (struct trie_node *c = old[i], *next; c; c = next) {
			next = c->in_bucket;
			file_in(t, c);
		}
}

struct trie_node *trie_child_make(struct trie *t, struct trie_node *parent,
				  struct str key, struct str label)
{
	struct trie_node *c = trie_child(t, parent, key);

	if (c)
		return c;
	c = arena_new_of(t->a, struct trie_node);
	c->key = key;
	c->label = label;
	c->parent = parent;
	if (parent->last)
		parent->last->sibling = c;
	else
		parent->children = c;
	parent->last = c;
	if (t->n++ > t->mask)
		grow_trie(t);
	file_in(t, c);
	return c;
}
