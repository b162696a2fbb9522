/*
 * Policies of several layers, in YAML, and what the passes make and say of
 * them.
 */
#ifndef TESTS_UNIT_LAYERED_H
#define TESTS_UNIT_LAYERED_H

#include "compiler/passes/passes.h"
#include "tests/unit/front.h"

struct layered {
	struct rig r;
	docs docs;
	struct ir_policy p;
};

static inline void layered_init(struct layered *l)
{
	*l = (struct layered){0};
	rig_init(&l->r);
}

static inline void layered_done(struct layered *l)
{
	rig_done(&l->r);
}

/* What it says has to be bound; NULL says nothing. */
static inline struct doc *layered_add(struct layered *l, enum layer layer,
				      const char *name, const char *yaml)
{
	const struct source *src;
	struct yaml_node *root;
	ir_texts extends = {0};
	struct doc *doc;

	if (!yaml)
		return NULL;
	src = sources_add(&l->r.sources, str_of(name), str_of(yaml), layer);
	doc = vec_push(l->r.a, &l->docs);
	doc->layer = layer;
	doc->source = src->name;
	CHECK_MSG(yaml_parse(l->r.a, &l->r.diags, src, &root) &&
			  bind_policy(&l->r.c, layer, root, &doc->policy,
				      &extends),
		  "%s", yaml);
	return doc;
}

/* The user's own file, and that of a workspace. */
static inline void layered_two(struct layered *l, const char *global,
			       const char *workspace)
{
	layered_init(l);
	layered_add(l, LAYER_GLOBAL, "config.yaml", global);
	layered_add(l, LAYER_WORKSPACE, ".membrane.yaml", workspace);
}

static inline bool layered_normalise(struct layered *l)
{
	return passes_layers(&l->r.c, &l->docs, &l->p) &&
	       passes_normalise(&l->r.c, &l->p);
}

/* All that `run` asks of a policy. */
static inline bool layered_pass(struct layered *l)
{
	return layered_normalise(l) && passes_conflicts(&l->r.c, &l->p) &&
	       passes_enforceable(&l->r.c, &l->p);
}

static inline struct str addition_lines(struct arena *a,
					const addition_list *list)
{
	struct buf b;

	buf_init(&b, a);
	vec_each(x, list)
		buf_addf(&b, "%.*s\n", STR_ARG(x->text));
	return buf_str(&b);
}

/* What the workspace's file adds to the other, and what it cuts off. */
static inline void check_contributed(const char *global, const char *workspace,
				     const char *want_adds,
				     const char *want_cuts)
{
	addition_list adds = {0}, cuts = {0};
	struct str got_adds, got_cuts;
	struct layered l;

	layered_two(&l, global, workspace);
	passes_additions(&l.r.c, &l.docs, &adds);
	passes_cuts(&l.r.c, &l.docs, &cuts);
	got_adds = addition_lines(l.r.a, &adds);
	got_cuts = addition_lines(l.r.a, &cuts);
	CHECK_MSG(str_is(got_adds, want_adds), "%s\n%s\nadds\n%.*s", global,
		  workspace, STR_ARG(got_adds));
	CHECK_MSG(str_is(got_cuts, want_cuts), "%s\n%s\ncuts\n%.*s", global,
		  workspace, STR_ARG(got_cuts));
	vec_each(x, &adds)
		CHECK_MSG(x->from.layer == LAYER_WORKSPACE && x->from.at.beg,
			  "%.*s", STR_ARG(x->text));
	vec_each(x, &cuts)
		CHECK_MSG(x->from.layer == LAYER_WORKSPACE && x->from.at.beg,
			  "%.*s", STR_ARG(x->text));
	layered_done(&l);
}

#endif
