#include "compiler/emit/gate/gate_marks.h"

#include "compiler/ir/ports.h"

struct gate_marks {
	emit_members *allow, *ask, *deny; /* by profile */
};

static emit_members *collect_marks(const struct gate *g, const profile_list *l,
				   const ir_grants *grants)
{
	const struct emit_in *in = g->in;
	emit_members *out = arena_array(in->a, l->n + 1, sizeof(*out));

	vec_each(x, grants) {
		const struct profile *p = profiles_of(g->p, in->policy, x);

		if (p)
			*vec_push(in->a, &out[p - l->v]) = x;
	}
	return out;
}

struct gate_marks *gate_marks_new(const struct gate *g)
{
	struct gate_marks *m;

	m = arena_new_of(g->in->a, struct gate_marks);
	m->allow = collect_marks(g, &g->p->allow, &g->in->policy->allow);
	m->ask = collect_marks(g, &g->p->ask, &g->in->policy->ask);
	m->deny = collect_marks(g, &g->p->deny, &g->in->policy->deny);
	return m;
}

static bool is_of(const profile_list *l, const struct profile *x)
{
	return l->n && x >= l->v && x < l->v + l->n;
}

const emit_members *gate_marks_members(const struct gate *g,
				       const struct profile *x)
{
	if (is_of(&g->p->allow, x))
		return &g->marks->allow[x - g->p->allow.v];
	return is_of(&g->p->ask, x) ? &g->marks->ask[x - g->p->ask.v]
				    : &g->marks->deny[x - g->p->deny.v];
}

void gate_marks_profile(const struct gate *g, const struct profile *x,
			unsigned uses, uint64_t reasons, uint32_t rule)
{
	struct marks_one one = {.at = g->c.out->n,
				.uses = uses,
				.reasons = reasons,
				.rule = rule};
	const emit_members *of = gate_marks_members(g, x);

	if (!g->in->marks)
		return;
	vec_each(m, of) {
		one.from = &(*m)->from;
		marks_add(g->in->marks, one);
	}
}

void gate_marks_all(const struct gate *g, const profile_list *l, bool http,
		    unsigned uses, uint64_t reasons)
{
	vec_each(x, l)
		if (x->http == http)
			gate_marks_profile(g, x, uses, reasons, 0);
}

void gate_marks_list(const struct gate *g, const profile_list *l, unsigned uses,
		     uint64_t reasons)
{
	vec_each(x, l)
		gate_marks_profile(g, x, uses, reasons, 0);
}

void gate_marks_guarded(const struct gate *g, unsigned uses, uint64_t reasons)
{
	vec_each(d, &g->in->policy->deny)
		if (!ir_grant_http(d) && !ir_dest_net(&d->dest) &&
		    d->dest.kind != IR_DEST_ANY && !ports_all(&d->ports))
			marks_add(g->in->marks,
				  (struct marks_one){.at = g->c.out->n,
						     .from = &d->from,
						     .uses = uses,
						     .reasons = reasons});
}

void gate_marks_default(const struct gate *g, unsigned uses, uint64_t reasons)
{
	marks_add(g->in->marks, (struct marks_one){.at = g->c.out->n,
						   .uses = uses,
						   .reasons = reasons});
}
