#include "compiler/cli/review/diff.h"

#include "compiler/emit/docker/seccomp.h"
#include "compiler/ir/text.h"
#include "compiler/plan/files.h"

static bool same_requests(struct arena *a, const ir_requests *x,
			  const ir_requests *y)
{
	if (x->n != y->n)
		return false;
	for (uint32_t i = 0; i < x->n; i++)
		if (!str_eq(ir_request_text(a, &x->v[i]),
			    ir_request_text(a, &y->v[i])))
			return false;
	return true;
}

/* What must hold beside what is permitted. One less of it is a change. */
static bool same_words(struct arena *a, const struct ir_policy *x,
		       const struct ir_policy *y)
{
	if (!same_requests(a, &x->tests.allow, &y->tests.allow) ||
	    !same_requests(a, &x->tests.deny, &y->tests.deny) ||
	    x->tests.never.n != y->tests.never.n)
		return false;
	for (uint32_t i = 0; i < x->tests.never.n; i++)
		if (!str_eq(ir_never_text(a, &x->tests.never.v[i]),
			    ir_never_text(a, &y->tests.never.v[i])))
			return false;
	return true;
}

enum changes_verdict diff_verdict(const struct diff *d)
{
	enum changes_verdict v =
		d->is_forged ? CHANGES_WIDENED : changes_verdict(&d->access);

	vec_each(p, &d->pods)
		v = p->way != ACCESS_LOST  ? CHANGES_WIDENED
		    : v < CHANGES_NARROWED ? CHANGES_NARROWED
					   : v;

	/* A plan has neither. */
	if (v == CHANGES_SAME && d->old->kind != OPERAND_PLAN &&
	    d->now->kind != OPERAND_PLAN &&
	    !same_words(d->a, &d->old->c.policy, &d->now->c.policy))
		return CHANGES_COSMETIC;
	return v;
}

struct str diff_pods_text(struct arena *a, const struct pods_change *p)
{
	return view_cleaned(
		a, arena_fmt(a, "%s: %.*s: %.*s → %.*s", p->file,
			     STR_ARG(p->path),
			     STR_ARG(p->was.n ? p->was : STR("none")),
			     STR_ARG(p->is.n ? p->is : STR("none"))));
}

struct str diff_remark(struct arena *a, const struct operand *s)
{
	const char *name = s->label.p;

	if (s->is_empty)
		return arena_fmt(
			a, "%s has no policy: nothing is granted there", name);
	if (s->forged)
		return arena_fmt(
			a,
			"%s is not what its own policy.json compiles to (%s%s): edited by hand, or written by another version of membrane. What is compared here is policy.json%s, and not what would run",
			name, view_cleaned(a, s->forged_first).p,
			s->forged > 1 ? ", …" : "",
			s->calls_forged ? " and " PLAN_SECCOMP : "");
	if (s->is_personal)
		return arena_fmt(
			a,
			"%s was compiled with somebody's own ~/.membrane/config.yaml",
			name);
	return (struct str){0};
}
