/* What the tests of the front share: one text, parsed or bound. */
#ifndef TESTS_UNIT_FRONT_H
#define TESTS_UNIT_FRONT_H

#include "compiler/front/bind/bind.h"
#include "tests/check.h"

#include <string.h>

struct rig {
	struct arena *a;
	struct sources sources;
	struct diags diags;
	struct pass_ctx c;
};

static inline void rig_init(struct rig *r)
{
	r->a = arena_new();
	sources_init(&r->sources, r->a);
	diags_init(&r->diags, r->a, &r->sources);
	r->c = (struct pass_ctx){r->a, &r->sources, &r->diags};
}

static inline void rig_done(struct rig *r)
{
	arena_free(r->a);
}

/* A text that stands in a source byte for byte. */
static inline struct text rig_text(struct rig *r, struct str s)
{
	const struct source *src =
		sources_add(&r->sources, STR("test"), s, LAYER_WORKSPACE);

	return (struct text){
		s, {src->base, src->base + (uint32_t)s.n}, src->base};
}

static inline bool rig_yaml(struct rig *r, struct str s, struct yaml_node **out)
{
	return yaml_parse(
		r->a, &r->diags,
		sources_add(&r->sources, STR("test"), s, LAYER_WORKSPACE), out);
}

static inline bool rig_bind(struct rig *r, const char *s, enum layer layer,
			    struct ir_policy *out)
{
	struct yaml_node *root;
	ir_texts extends = {0};

	*out = (struct ir_policy){0};
	return rig_yaml(r, str_of(s), &root) &&
	       bind_policy(&r->c, layer, root, out, &extends);
}

#endif
