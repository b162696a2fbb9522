/* A change of a session's policy, written into the workspace's file. */
#include "compiler/cli/amend/amend.h"

#include "compiler/cli/text/console.h"
#include "compiler/cli/trust/contribution.h"
#include "compiler/cli/trust/trust_ask.h"
#include "compiler/cli/workspace/saving.h"
#include "compiler/front/yaml/edit.h"

#include <unistd.h>

static int fail_save(struct amend *x, int status, const struct err *err)
{
	console_error("%s", view_cleaned(x->a, str_of(err->text)).p);
	return status;
}

static int compile_file(struct amend *x, const struct front_text *text,
			struct compilation *out)
{
	struct front_input in = x->save.in.front;
	struct err err;

	/* For every run there: what flags a command line has is its own. */
	in.workspace = x->about.workspace;
	in.flags = NULL;
	in.n_flags = 0;
	in.n_within = 0;
	in.texts = text;
	in.n_texts = text ? 1 : 0;
	*out = (struct compilation){0};
	if (driver_compile(out, &in, &err) < 0)
		return fail_save(x, STATUS_IO, &err);
	if (out->ok)
		return STATUS_OK;
	console_diags(x->a, &out->diags);
	console_error("so nothing is saved, and nothing was changed");
	return STATUS_REFUSED;
}

static int edit_policy(struct amend *x)
{
	struct amend_save *s = &x->save;
	const struct source *src;

	s->file = front_policy_name(&s->old.sources);
	s->path =
		arena_fmt(x->a, "%s/%.*s", x->about.workspace, STR_ARG(s->file))
			.p;
	src = sources_named(&s->old.sources, s->file);
	s->is_new = !src;
	s->before = src ? src->text : STR("");
	if (edit_add(x->a, s->before, x->allow ? "allow" : "deny",
		     edit_scalar(x->a, x->dest), &s->after))
		return STATUS_OK;
	console_error(
		"%.*s has a shape that is not edited here, and nothing was changed: write the\n  line yourself, and leave out --save to change the session",
		STR_ARG(s->file));
	return STATUS_REFUSED;
}

int amend_save_prepare(struct amend *x)
{
	struct amend_save *s = &x->save;
	struct front_text text;
	struct err err;
	int status;

	if (!x->about.known) {
		console_error(
			"session %s does not say which workspace it works on: nothing can be saved",
			x->about.session.id);
		return STATUS_REFUSED;
	}
	if (inputs_find(x->a, x->o, &s->in, &err) < 0 ||
	    inputs_recover(x->a, s->in.state, x->about.workspace, &err) < 0)
		return fail_save(x, STATUS_IO, &err);
	s->in.workspace = x->about.workspace;
	status = compile_file(x, NULL, &s->old);
	if (status == STATUS_OK)
		status = edit_policy(x);
	if (status != STATUS_OK)
		return status;
	text = (struct front_text){s->file, s->after};
	status = compile_file(x, &text, &s->now);
	if (status != STATUS_OK)
		return status;
	changes_make(x->a, &s->old, &s->now, false, &s->diff);
	if (changes_verdict(&s->diff) <= CHANGES_COSMETIC) {
		console_error(
			"for other sessions in this workspace nothing would change: it is not saved");
		return STATUS_REFUSED;
	}
	s->was_trusted = trust_holds(&s->old, &s->in);
	explain_hunks_find(x->a, s->file, s->is_new ? NULL : &s->before,
			   s->after, &s->hunks);
	return STATUS_OK;
}

static int write_file(struct amend *x, struct err *err)
{
	const struct amend_save *s = &x->save;

	if (s->is_new && access(s->path, F_OK) < 0)
		return saving_new(x->a, s->in.workspace, s->file, s->after,
				  err);
	return saving_write(x->a, s->in.state, s->in.workspace, s->file,
			    s->before, s->after, err);
}

/* What was shown and confirmed is approved with it, and nothing else is. */
static int approve_change(struct amend *x)
{
	struct amend_save *s = &x->save;
	struct contribution all;
	struct err err;

	contribution_make(&s->now, &all);
	switch (trust_state(&s->now, &s->in, &all, &err)) {
	case TRUST_NOTHING:
	case TRUST_ALWAYS:
	case TRUST_APPROVED:
		return STATUS_OK;
	case TRUST_UNKNOWN:
		return fail_save(x, STATUS_IO, &err);
	case TRUST_NEVER:
		console_error(
			"'workspace_trust: never' in the global file: no session runs with what this workspace adds");
		return STATUS_OK;
	case TRUST_OPEN:
		break;
	}
	if (!s->was_trusted) {
		console_error(
			"the workspace adds other things that nobody approved: 'membrane trust' shows them, and asks");
		return STATUS_OK;
	}
	if (trust_store_add(x->a, s->in.state, str_of(s->in.workspace),
			    str_of(all.digest), &all.adds, &all.cuts, &err) < 0)
		return fail_save(x, STATUS_IO, &err);
	return STATUS_OK;
}

int amend_save_write(struct amend *x)
{
	struct err err;

	if (write_file(x, &err) < 0) {
		console_error("not saved: %s",
			      view_cleaned(x->a, str_of(err.text)).p);
		return STATUS_IO;
	}
	x->save.done = true;
	return approve_change(x);
}

void amend_save_release(struct amend *x)
{
	if (x->save.old.a)
		driver_done(&x->save.old);
	if (x->save.now.a)
		driver_done(&x->save.now);
	x->save.old = x->save.now = (struct compilation){0};
}
