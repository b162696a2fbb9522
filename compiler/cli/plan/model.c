/*
 * What `plan` has to say, gathered once and then written as text, JSON or
 * Markdown: a compiled policy, what it adds, what it leaves open, what of it
 * cannot be enforced, and how it differs from the plan that last ran here.
 */
#include "compiler/cli/plan/parts.h"

#include "compiler/cli/text/view.h"
#include "compiler/plan/files.h"

static void find_changes(struct plan_model *m, const struct compilation *c)
{
	struct err err;

	m->n_files = plan_compare(m->a, m->last, m->plan, &m->files);
	if (m->n_files == 0)
		return;
	if (derived_make(m->last, "last/", NULL, &m->own, &err) < 0 ||
	    !m->own.c.ok)
		return;
	derived_adopt(&m->own.c, c);
	changes_make(m->a, &m->own.c, c, false, &m->changes);
}

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
		.counts = c->counts,
		.counted_all = !c->unsearched,
		.denied = c->denied,
		.reached = c->reached,
		.waived = c->waived,
		.last = last,
		.kubernetes = c->kubernetes,
		.by_docker = plan_file(&c->plan, PLAN_DOCKER),
		.by_native = plan_file(&c->plan, PLAN_NATIVE),
	};
	if (c->policy.engine.v == IR_ENGINE_AUTO)
		native_obstacle(c->a, &c->policy, &m->obstacle);
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
	plan_git_find(c->a, in, m->plan, &m->git, &m->risks);
	trust_linked_find(c, in, &m->linked);
	found_identity(c->a, in, &m->identity);
	if (c->unsearched)
		risks_unsearched(c->a, &m->risks);
	if (last)
		find_changes(m, c);
}

void model_done(struct plan_model *m)
{
	driver_done(&m->own.c);
}

bool model_has_changes(const struct plan_model *m)
{
	return m->last && (m->n_files == 0 || m->own.c.ok);
}

struct str model_source(const struct plan_model *m, struct ir_origin from)
{
	return view_source(m->a, m->sources, from.at);
}
