#include "compiler/cli/trust/trust_ask.h"

#include "compiler/cli/review/changes.h"
#include "compiler/cli/text/confirm.h"
#include "compiler/cli/text/console.h"

#include <stdlib.h>

static bool is_among(const ir_texts *list, struct str s)
{
	vec_each(t, list)
		if (str_eq(t->s, s))
			return true;
	return false;
}

static bool was_added(const struct trust_store *s, struct str workspace,
		      struct str text)
{
	vec_each(e, &s->entries) {
		if (!str_eq(e->workspace, workspace))
			continue;
		if (is_among(&e->adds, text))
			return true;
	}
	return false;
}

/* The reason to ask where all that is added was approved before. */
static void find_gone(struct arena *a, const struct trust_store *s,
		      const struct inputs *in, struct contribution *x)
{
	const struct trust_entry *last = NULL;

	vec_each(e, &s->entries)
		if (str_eq(e->workspace, str_of(in->workspace)))
			last = e;
	if (!last)
		return;
	vec_each(t, &last->cuts)
		if (!is_among(&x->cuts, t->s))
			*vec_push(a, &x->gone) = *t;
}

static void mark_known(const struct trust_store *s, const struct inputs *in,
		       struct contribution *x)
{
	for (uint32_t i = 0; i < x->adds.n; i++)
		x->notes.v[i].known =
			was_added(s, str_of(in->workspace), x->adds.v[i].s);
}

enum trust_state trust_state(struct compilation *c, const struct inputs *in,
			     struct contribution *x, struct err *err)
{
	const ir_opt_trust *habit = &c->policy.workspace_trust;
	const struct trust_entry *older;
	struct trust_store store;

	if (x->adds.n == 0)
		return TRUST_NOTHING;
	if (habit->set && habit->v == IR_TRUST_ALWAYS)
		return TRUST_ALWAYS;
	if (habit->set && habit->v == IR_TRUST_NEVER)
		return TRUST_NEVER;
	if (trust_store_read(c->a, in->state, &store, err) < 0)
		return TRUST_UNKNOWN;
	if (trust_store_find(&store, str_of(in->workspace),
			     str_of(x->digest)) ||
	    trust_store_within(c->a, &store, str_of(in->workspace), &x->adds,
			       &x->cuts))
		return TRUST_APPROVED;
	mark_known(&store, in, x);
	find_gone(c->a, &store, in, x);
	older = trust_store_older(&store, str_of(in->workspace));
	if (older)
		x->older = older->when;
	return TRUST_OPEN;
}

bool trust_holds(struct compilation *c, const struct inputs *in)
{
	struct contribution x;
	struct err err;

	contribution_make(c, &x);
	switch (trust_state(c, in, &x, &err)) {
	case TRUST_NOTHING:
	case TRUST_ALWAYS:
	case TRUST_APPROVED:
		return true;
	case TRUST_NEVER:
	case TRUST_OPEN:
	case TRUST_UNKNOWN:
		return false;
	}
	abort();
}

/* --- what is shown ------------------------------------------------------- */

void trust_view_older(const struct view *v, const struct contribution *x)
{
	if (x->older.n == 0)
		return;
	buf_adds(v->out, "  ");
	view_wrap(
		v, 2, 2,
		arena_fmt(
			v->out->a,
			"An approval of %s no longer counts: it was of what is added alone, and what cuts into that could be taken out unasked. One of now is of both.",
			view_cleaned(v->out->a, x->older).p));
}

void trust_view(const struct view *v, const struct compilation *c,
		const struct contribution *x)
{
	for (uint32_t i = 0; i < x->adds.n; i++) {
		const struct ir_text *t = &x->adds.v[i];
		const struct contribution_note *n = &x->notes.v[i];

		view_row(v, 2,
			 n->known    ? VIEW_DIM
			 : n->widens ? VIEW_WARN
				     : VIEW_GOOD,
			 arena_fmt(c->a, "+ %s%s%s", view_cleaned(c->a, t->s).p,
				   n->widens ? "  (widens)" : "",
				   n->known ? "  (approved before)" : ""),
			 view_source(c->a, &c->sources, t->from.at));
		if (n->witness.n)
			view_row(v, 6, VIEW_DIM, view_cleaned(c->a, n->witness),
				 arena_fmt(c->a, "%s → %s",
					   changes_decision_name(c->a, &n->was),
					   changes_decision_name(c->a,
								 &n->is)));
	}
	vec_each(t, &x->cuts)
		view_row(v, 2, VIEW_DIM,
			 arena_fmt(c->a, "- %s  (of it)",
				   view_cleaned(c->a, t->s).p),
			 view_source(c->a, &c->sources, t->from.at));
	vec_each(t, &x->gone)
		view_row(v, 2, VIEW_WARN,
			 arena_fmt(c->a, "! %s  (no longer)",
				   view_cleaned(c->a, t->s).p),
			 (struct str){0});
	trust_view_older(v, x);
}

struct str trust_command(struct arena *a, const struct options *o,
			 const char *workspace)
{
	const struct option_given *policies = options_get(o, OPTION_POLICIES);
	struct buf b;

	buf_init(&b, a);
	buf_adds(&b, "membrane trust ");
	if (options_get(o, OPTION_NO_GLOBAL))
		buf_adds(&b, "--no-global-config ");
	if (policies) {
		buf_adds(&b, "--policies ");
		view_shell_word(&b, policies->value);
		buf_addc(&b, ' ');
	}
	view_shell_word(&b, str_of(workspace));
	return view_cleaned(a, buf_str(&b));
}

bool trust_ask(int tty, struct compilation *c, const struct inputs *in,
	       const struct contribution *x)
{
	struct str where = view_cleaned(c->a, str_of(in->workspace));
	struct buf out;
	struct view v = {&out, console_width(tty), console_colour(tty)};
	struct str question =
		arena_fmt(c->a, "Approve %s for this folder, until %s? [y/N] ",
			  x->adds.n == 1 ? "this" : "these",
			  x->adds.n == 1 ? "it changes" : "they change");

	buf_init(&out, c->a);
	buf_addf(&out, "membrane: %s adds %u thing%s to your policy:\n",
		 where.p, x->adds.n, x->adds.n == 1 ? "" : "s");
	trust_view(&v, c, x);
	return confirm_ask(tty, buf_str(&out), question);
}
