/* What a program is run with, written into the workspace's policy: the profile
 * of an agent, and folders of this machine. */
#include "compiler/cli/profile/profile.h"

#include "compiler/cli/text/confirm.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/trust/trust_ask.h"
#include "compiler/cli/workspace/saving.h"
#include "compiler/front/yaml/edit.h"

#include <stdlib.h>

struct adding {
	struct arena *a;
	const struct profile_wish *wish;
	const struct inputs *in;
	struct compilation old, now;
	struct contribution all; /* what the workspace adds with it */
	enum trust_state trust;
	bool more; /* of that, things that nobody approved and that are none of
		    * the profile */
	bool unseen; /* nobody is asked, so nobody has seen them */
	struct str file, before, after;
	bool is_new;
};

bool profile_extended(const struct compilation *c, const struct agent *g)
{
	return sources_named(&c->sources, arena_fmt(c->a, SOURCE_PRESET "%s",
						    g->name)) != NULL;
}

struct str profile_lines(struct arena *a, const struct profile_wish *wish,
			 const char *between)
{
	struct buf b;

	buf_init(&b, a);
	if (wish->agent)
		buf_addf(&b, "extends: [%s]", wish->agent->name);
	if (wish->agent && wish->folders.n)
		buf_adds(&b, between);
	vec_each(t, &wish->folders)
		buf_addf(&b, "%s%.*s",
			 t == wish->folders.v ? "visible: [" : ", ",
			 STR_ARG(edit_scalar(a, t->s)));
	if (wish->folders.n)
		buf_addc(&b, ']');
	return buf_str(&b);
}

static bool fail_adding(struct adding *x, const struct err *err)
{
	console_error("%s", view_cleaned(x->a, str_of(err->text)).p);
	return false;
}

static bool compile_workspace(struct adding *x, const struct front_text *text,
			      struct compilation *out)
{
	struct front_input in = x->in->front;
	struct err err;

	in.flags = NULL;
	in.n_flags = 0;
	in.n_within = 0;
	in.texts = text;
	in.n_texts = text ? 1 : 0;
	if (driver_compile(out, &in, &err) < 0)
		return fail_adding(x, &err);
	if (out->ok)
		return true;
	console_diags(x->a, &out->diags);
	console_error("so nothing was added");
	return false;
}

static bool edit_item(struct adding *x, const char *key, struct str item)
{
	struct str before = x->after;

	return edit_add(x->a, before, key, edit_scalar(x->a, item), &x->after);
}

static bool edit_items(struct adding *x)
{
	x->after = x->before;
	if (x->wish->agent &&
	    !edit_item(x, "extends", str_of(x->wish->agent->name)))
		return false;
	vec_each(t, &x->wish->folders)
		if (!edit_item(x, "visible", t->s))
			return false;
	return true;
}

static bool edit_policy(struct adding *x)
{
	const struct source *src;

	x->file = front_policy_name(&x->old.sources);
	src = sources_named(&x->old.sources, x->file);
	x->is_new = !src;
	x->before = src ? src->text : STR("");
	if (edit_items(x))
		return true;
	console_error(
		"%.*s has a shape that is not edited here: write '%.*s' yourself",
		STR_ARG(x->file),
		STR_ARG(profile_lines(x->a, x->wish, "' and '")));
	return false;
}

/* Whether the policy, as it was, has things that wait for an approval. */
static bool waits(struct adding *x)
{
	struct contribution before;
	struct err err;

	contribution_make(&x->old, &before);
	return trust_state(&x->old, x->in, &before, &err) == TRUST_OPEN;
}

/* What would be added, and whether that may be. */
static bool prepare_adding(struct adding *x)
{
	struct front_text text;
	struct err err;

	if (!compile_workspace(x, NULL, &x->old) || !edit_policy(x))
		return false;
	text = (struct front_text){x->file, x->after};
	if (!compile_workspace(x, &text, &x->now))
		return false;
	contribution_make(&x->now, &x->all);
	x->more = waits(x);
	x->trust = trust_state(&x->now, x->in, &x->all, &err);
	switch (x->trust) {
	case TRUST_NOTHING:
	case TRUST_ALWAYS:
	case TRUST_APPROVED:
	case TRUST_OPEN:
		return true;
	case TRUST_UNKNOWN:
		return fail_adding(x, &err);
	case TRUST_NEVER:
		console_error(
			"'workspace_trust: never' in the global file: write '%.*s' there",
			STR_ARG(profile_lines(x->a, x->wish, "' and '")));
		return false;
	}
	abort();
}

/* A row for each thing, without the requests that show it. */
static struct str shown_adding(struct adding *x, int fd)
{
	struct buf out;
	struct view v = {&out, console_width(fd), console_colour(fd)};

	buf_init(&out, x->a);
	buf_addf(&out, "membrane: %s%s, for %.*s here%s:\n",
		 x->wish->agent ? "the profile of " : "what belongs to ",
		 view_cleaned(x->a, str_of(x->wish->program)).p,
		 STR_ARG(x->file),
		 x->more ? ", and what that adds besides" : "");
	for (uint32_t i = 0; i < x->all.adds.n; i++)
		view_row(&v, 2,
			 x->all.notes.v[i].known    ? VIEW_DIM
			 : x->all.notes.v[i].widens ? VIEW_WARN
						    : VIEW_GOOD,
			 arena_fmt(x->a, "+ %s%s%s",
				   view_cleaned(x->a, x->all.adds.v[i].s).p,
				   x->all.notes.v[i].widens ? "  (widens)" : "",
				   x->all.notes.v[i].known
					   ? "  (approved before)"
					   : ""),
			 view_source(x->a, &x->now.sources,
				     x->all.adds.v[i].from.at));
	vec_each(t, &x->all.cuts)
		view_row(&v, 2, VIEW_DIM,
			 arena_fmt(x->a, "- %s  (of it)",
				   view_cleaned(x->a, t->s).p),
			 view_source(x->a, &x->now.sources, t->from.at));
	vec_each(t, &x->all.gone)
		view_row(&v, 2, VIEW_WARN,
			 arena_fmt(x->a, "! %s  (no longer)",
				   view_cleaned(x->a, t->s).p),
			 (struct str){0});
	trust_view_older(&v, &x->all);
	return buf_str(&out);
}

static bool write_adding(struct adding *x)
{
	struct err err;
	int rc;

	if (x->is_new)
		rc = saving_new(x->a, x->in->workspace, x->file, x->after,
				&err);
	else
		rc = saving_write(x->a, x->in->state, x->in->workspace, x->file,
				  x->before, x->after, &err);
	if (rc < 0)
		return fail_adding(x, &err);
	/* What was shown is approved, to the byte; a yes in advance is one to
	 * the profile, and not to what else a checkout may hold. */
	if (x->trust == TRUST_OPEN && !x->unseen &&
	    trust_store_add(x->a, x->in->state, str_of(x->in->workspace),
			    str_of(x->all.digest), &x->all.adds, &x->all.cuts,
			    &err) < 0)
		return fail_adding(x, &err);
	console_error(
		"wrote '%.*s' to %.*s%s",
		STR_ARG(profile_lines(x->a, x->wish, "' and '")),
		STR_ARG(x->file),
		x->unseen
			? "; what that adds besides is not approved: 'membrane trust' shows it and asks"
			: "");
	return true;
}

static enum profile_answer ask_and_add(struct adding *x, const char *question,
				       bool yes)
{
	auto_fd int tty = yes ? -1 : confirm_terminal();

	if (!yes && tty < 0)
		return PROFILE_UNASKED;
	if (!prepare_adding(x))
		return PROFILE_FAILED;
	x->unseen = yes && x->more;
	if (!yes && !confirm_ask(tty, shown_adding(x, tty),
				 arena_fmt(x->a, "%s [y/N] ", question)))
		return PROFILE_DECLINED;
	return write_adding(x) ? PROFILE_ADDED : PROFILE_FAILED;
}

enum profile_answer profile_add(struct arena *a,
				const struct profile_wish *wish,
				const struct inputs *in, const char *question,
				bool yes)
{
	struct adding x = {.a = a, .wish = wish, .in = in};
	enum profile_answer answer = ask_and_add(&x, question, yes);

	if (x.old.a)
		driver_done(&x.old);
	if (x.now.a)
		driver_done(&x.now);
	return answer;
}
