/*
 * A manifest as a tree, before it is a text: maps in the order in which their
 * keys were put, lists, texts, numbers and truths. Each node can say what of
 * the policy, or of the command line, made it; below it that holds, too.
 *
 * All memory is the arena's. A key is a word of ours and is borrowed, or, of
 * kube_tree_named(), one that the caller has checked.
 */
#ifndef COMPILER_EMIT_KUBERNETES_KUBE_TREE_H
#define COMPILER_EMIT_KUBERNETES_KUBE_TREE_H

#include "compiler/base/json.h"
#include "compiler/emit/emit.h"

enum kube_node_kind {
	KUBE_NODE_MAP,
	KUBE_NODE_LIST,
	KUBE_NODE_TEXT,
	KUBE_NODE_NUMBER,
	KUBE_NODE_BOOL,
};

struct kube_node {
	struct arena *a;
	enum kube_node_kind kind;
	const char *key; /* in a map; else NULL */
	struct str text; /* of a text, or of a number */
	bool truth;
	VEC(struct kube_node *) items; /* of a map or a list */
	VEC(struct str) causes;	       /* "FILE:LINE:COLUMN", "--flag" */
};

/* A root: a map. */
struct kube_node *kube_tree_root(struct arena *a);

/* Members of a map, and (key NULL) items of a list. */
struct kube_node *kube_tree_map(struct kube_node *in, const char *key);
struct kube_node *kube_tree_list(struct kube_node *in, const char *key);
struct kube_node *kube_tree_text(struct kube_node *in, const char *key,
				 struct str text);
struct kube_node *kube_tree_word(struct kube_node *in, const char *key,
				 const char *word);
/* A text where the kubelet expands $(NAME), as in a container's command and in
 * the value of a variable: each '$' is doubled, so that none begins that. */
struct kube_node *kube_tree_literal(struct kube_node *in, const char *key,
				    struct str text);
struct kube_node *kube_tree_number(struct kube_node *in, const char *key,
				   uint64_t n);
struct kube_node *kube_tree_bool(struct kube_node *in, const char *key,
				 bool truth);
/* That member of a map, or NULL. */
struct kube_node *kube_tree_get(const struct kube_node *map, const char *key);
/* A list of words of ours, NULL behind the last. */
void kube_tree_words(struct kube_node *in, const char *key,
		     const char *const *words);

/* What made it: a line of the policy (none, of layer LAYER_FLOOR: nothing is
 * said), or an option. Several may have; each is named once. */
void kube_tree_from(const struct emit_in *in, struct kube_node *n,
		    const struct ir_origin *from);
void kube_tree_flag(struct kube_node *n, const char *flag);

/* Documents of YAML, in their order. */
void kube_tree_write(struct arena *a, struct kube_node *const *roots, size_t n,
		     struct buf *out);
/* {"spec.containers[0].image": ["FILE:LINE:COLUMN"], …}: each node that
 * something made, into an object; prefix: what a path begins with. */
void kube_tree_causes(const struct kube_node *root, const char *prefix,
		      cJSON *out);

#endif
