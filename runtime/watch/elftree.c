/*
 * Four functions that libelf.a of elfutils 0.192 (Debian 13) calls and does not
 * have: its trees, of search.h. A libelf that has them goes before these.
 * https://sourceware.org/bugzilla/show_bug.cgi?id=32293
 *
 * Nobody else is at such a tree: one ELF file is one thread's here, so the lock
 * that libelf keeps behind the root is left alone.
 */
#include <search.h>
#include <stddef.h>

#define OF_LIBELF __attribute__((weak))

struct eu_tree {
	void *root;
};

typedef int eu_compare(const void *, const void *);

OF_LIBELF void eu_search_tree_init(struct eu_tree *tree);
OF_LIBELF void eu_search_tree_fini(struct eu_tree *tree,
				   void (*free_node)(void *));
OF_LIBELF void *eu_tsearch(const void *key, struct eu_tree *tree,
			   eu_compare *compare);
OF_LIBELF void *eu_tdelete(const void *key, struct eu_tree *tree,
			   eu_compare *compare);

void eu_search_tree_init(struct eu_tree *tree)
{
	tree->root = NULL;
}

void eu_search_tree_fini(struct eu_tree *tree, void (*free_node)(void *))
{
	tdestroy(tree->root, free_node);
	tree->root = NULL;
}

void *eu_tsearch(const void *key, struct eu_tree *tree, eu_compare *compare)
{
	return tsearch(key, &tree->root, compare);
}

void *eu_tdelete(const void *key, struct eu_tree *tree, eu_compare *compare)
{
	return tdelete(key, &tree->root, compare);
}
