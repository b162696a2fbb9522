/* All artefacts of a policy's text. */
#ifndef TESTS_UNIT_EMIT_PLANNED_H
#define TESTS_UNIT_EMIT_PLANNED_H

#include "compiler/driver.h"
#include "compiler/front/bind/bind.h"
#include "tests/check.h"

#include <string.h>

/* As a workspace's policy, above the floor alone: what commands do besides, to
 * judge and to compare it, changes nothing of its artefacts. */
static inline bool planned_text(struct compilation *c, const char *policy)
{
	struct doc doc = {.layer = LAYER_WORKSPACE,
			  .source = STR(".membrane.yaml")};
	struct yaml_node *root;
	ir_texts extends = {0};
	struct pass_ctx ctx;
	struct emit_in in;
	docs list = {0};

	c->a = c->marks.a = arena_new();
	sources_init(&c->sources, c->a);
	diags_init(&c->diags, c->a, &c->sources);
	ctx = driver_ctx(c);
	if (!yaml_parse(c->a, &c->diags,
			sources_add(&c->sources, doc.source, str_of(policy),
				    doc.layer),
			&root) ||
	    !bind_policy(&ctx, doc.layer, root, &doc.policy, &extends))
		return false;
	*vec_push(c->a, &list) = doc;
	if (!passes_layers(&ctx, &list, &c->policy) ||
	    !passes_normalise(&ctx, &c->policy))
		return false;
	in = driver_emit(c);
	c->ok = emit_all(&in, &c->plan);
	return c->ok;
}

/* With marks, and without. */
static inline bool planned(struct compilation *c, const char *policy)
{
	*c = (struct compilation){.mark_lines = true};
	return planned_text(c, policy);
}

static inline bool planned_plain(struct compilation *c, const char *policy)
{
	*c = (struct compilation){0};
	return planned_text(c, policy);
}

/* Only what may refuse it. */
static inline bool planned_unwritten(struct compilation *c, const char *policy)
{
	*c = (struct compilation){.unwritten = true};
	return planned_text(c, policy);
}

static inline struct str planned_file(const struct compilation *c,
				      const char *name)
{
	const struct plan_file *f = plan_file(&c->plan, name);

	return f ? f->data : (struct str){0};
}

#endif
