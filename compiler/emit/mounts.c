/*
 * mounts.plan: what the agent does not see, may not change and may not create;
 * compiler/plan/mounts_plan.h has the format.
 */
#include "compiler/emit/parts.h"

#include "compiler/plan/mounts_plan.h"

static void put_patterns(const struct emit_in *in, struct buf *out,
			 const char *word, const ir_patterns *patterns,
			 unsigned uses, uint64_t reason)
{
	vec_each(p, patterns) {
		marks_add(in->marks,
			  (struct marks_one){
				  .at = out->n,
				  .from = &p->from,
				  .uses = uses,
				  .reasons = p->back ? MARKS_FOR(GRANTED)
						     : reason});
		buf_addf(out, "%s ", word);
		buf_add(out, p->line);
		buf_addc(out, '\n');
	}
}

/* In the plan a home begins with its slash. */
static void put_protected(const struct emit_in *in, struct buf *out)
{
	vec_each(x, &in->policy->protect)
		vec_each(f, &x->files) {
			marks_add(in->marks,
				  (struct marks_one){
					  .at = out->n,
					  .from = &f->from,
					  .uses = MARKS_READ | MARKS_WRITE,
					  .reasons = MARKS_FOR(PROTECTED)});
			buf_addf(out, MOUNTS_PLAN_PROTECT " %.*s %.*s\n",
				 STR_ARG(x->by),
				 STR_ARG(str_slice(f->line, 1, f->line.n)));
		}
}

bool mounts_emit(const struct emit_in *in, struct buf *out)
{
	const struct ir_policy *p = in->policy;

	buf_adds(out,
		 MOUNTS_PLAN_HEAD "\n" MOUNTS_PLAN_WORKSPACE " /workspace\n");
	put_patterns(in, out, MOUNTS_PLAN_IGNORE, &p->ignore,
		     MARKS_READ | MARKS_WRITE, MARKS_FOR(IGNORED));
	put_patterns(in, out, MOUNTS_PLAN_READONLY, &p->readonly, MARKS_WRITE,
		     MARKS_FOR(READONLY));
	vec_each(r, &p->readonly) {
		struct str path = r->line;

		if (!r->hold)
			continue;
		if (str_starts(path, STR("/")))
			path = str_slice(path, 1, path.n);
		marks_add(in->marks,
			  (struct marks_one){.at = out->n,
					     .from = &r->from,
					     .uses = MARKS_WRITE,
					     .reasons = MARKS_FOR(READONLY)});
		buf_addf(out, MOUNTS_PLAN_HOLD " %.*s\n", STR_ARG(path));
	}
	vec_each(f, &p->fast) {
		marks_add(in->marks,
			  (struct marks_one){.at = out->n,
					     .from = &f->from,
					     .uses = MARKS_READ | MARKS_WRITE,
					     .reasons = MARKS_FOR(GRANTED)});
		buf_addf(out, MOUNTS_PLAN_FAST " %.*s\n", STR_ARG(f->s));
	}
	put_protected(in, out);
	return true;
}
