#include "compiler/commands/model.h"

#include "compiler/commands/view.h"

void model_make(struct plan_model *m, struct compilation *c,
		const struct inputs *in, const struct plan *last)
{
	struct pass_ctx ctx = driver_ctx(c);

	*m = (struct plan_model){
		.a = c->a,
		.sources = &c->sources,
		.policy = &c->policy,
		.plan = &c->plan,
		.diags = &c->diags,
		.reached = c->reached,
		.waived = c->waived,
		.has_last = last != NULL,
	};
	sha256_hex(plan_manifest(c->a, &c->plan), m->digest);
	contribution_make(c, &m->adds);
	m->trust = trust_state(c, in, &m->adds, &m->trust_err);
	m->first_use = in->first_use;
	diags_init(&m->refused, c->a, &c->sources);
	ctx.diags = &m->refused;
	/* The answer is in m->refused; here nothing is stopped by it. */
	if (!passes_enforceable(&ctx, &c->policy))
		m->refused.last = NULL;
	risks_find(c->a, &c->policy, &m->risks);
	if (last)
		changes_find(c->a, last, &c->plan, &m->changes);
}

struct str model_place(struct arena *a, const struct sources *sources,
		       struct ir_origin from)
{
	struct place p = sources_place(sources, from.at);
	struct buf b;

	buf_init(&b, a);
	if (!p.source)
		return (struct str){0};
	view_clean(&b, p.source->name);
	/* These two are no files that somebody could open at a line. */
	if (p.source->layer != LAYER_FLAGS && p.source->layer != LAYER_FLOOR)
		buf_addf(&b, ":%u", p.line);
	return buf_str(&b);
}

struct str model_source(const struct plan_model *m, struct ir_origin from)
{
	return model_place(m->a, m->sources, from);
}
