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

/*
 * What was said, one line each: the bytes of the text that are meant, the
 * number, the words, and behind a '|' the last help.
 */
static inline struct str rig_said(struct rig *r)
{
	struct diag_view v;
	struct buf out;

	buf_init(&out, r->a);
	for (unsigned i = 0; diags_get(&r->diags, i, &v); i++) {
		const struct source *src = sources_of(&r->sources, v.at);
		uint32_t base = src ? src->base : 0;

		buf_addf(&out, "%u-%u %c%03d %.*s", v.at.beg - base,
			 v.at.end - base, v.error ? 'E' : 'W', (int)v.id,
			 STR_ARG(v.text));
		if (v.help.n)
			buf_addf(&out, " | %.*s", STR_ARG(v.help));
		buf_addc(&out, '\n');
	}
	return buf_str(&out);
}

/* A policy, and what is said of it; "" of one that is bound as it is. */
struct said {
	const char *text, *want;
};

static inline void check_said(const struct said *s)
{
	struct ir_policy p;
	struct str got;
	struct rig r;
	bool ok;

	rig_init(&r);
	ok = rig_bind(&r, s->text, LAYER_GLOBAL, &p);
	got = rig_said(&r);
	CHECK_MSG(str_is(got, s->want), "%s\n%.*s", s->text, STR_ARG(got));
	CHECK_MSG(ok == (r.diags.errors == 0), "%s", s->text);
	rig_done(&r);
}

static inline void check_all_said(const struct said *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		check_said(&list[i]);
}

#endif
