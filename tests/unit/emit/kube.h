/* A policy in YAML, and what Kubernetes is to get of it. */
#ifndef TESTS_UNIT_EMIT_KUBE_H
#define TESTS_UNIT_EMIT_KUBE_H

#include "compiler/emit/kubernetes/parts.h"
#include "tests/unit/emit/compiled.h"

/* The lines that each policy begins with, and how many they are. */
#define KUBE_HEAD                                                              \
	"image: registry.example.com/agent:1\n"                                \
	"resolver: 10.96.0.10\n"
#define KUBE_HEAD_LINES 2u

struct kube_rig {
	struct compiled c;
	struct kube_options options;
};

static inline void kube_rig_init(struct kube_rig *t, const char *yaml)
{
	compiled_init(&t->c, yaml, LAYER_WORKSPACE);
	t->options = (struct kube_options){.name = STR("agent"),
					   .gate_image = STR("gate")};
	t->c.in.kubernetes = &t->options;
}

/* The same, behind KUBE_HEAD. */
static inline void kube_rig_body(struct kube_rig *t, struct arena *a,
				 const char *body)
{
	kube_rig_init(t, arena_fmt(a, KUBE_HEAD "%s", body).p);
}

static inline void kube_rig_done(struct kube_rig *t)
{
	compiled_done(&t->c);
}

/* A text of a map's, or "". */
static inline struct str kube_rig_text(const struct kube_node *map,
				       const char *key)
{
	const struct kube_node *n = map ? kube_tree_get(map, key) : NULL;

	return n ? n->text : STR("");
}

#endif
