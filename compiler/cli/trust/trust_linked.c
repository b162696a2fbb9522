#include "compiler/cli/trust/trust_linked.h"

#include "compiler/cli/text/confirm.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/workspace/found.h"

static struct contribution made_of(struct arena *a, struct str text)
{
	struct contribution x = {0};

	*vec_push(a, &x.adds) = (struct ir_text){.s = text};
	*vec_push(a, &x.notes) = (struct contribution_note){.widens = true};
	contribution_digest(a, &x.adds, &x.cuts, x.digest);
	return x;
}

static struct contribution declined_of(struct arena *a,
				       const struct gitlinked *g)
{
	return made_of(
		a, arena_fmt(a, "without %.*s", STR_ARG(gitlinked_text(a, g))));
}

static bool is_declined(struct compilation *c, const struct inputs *in,
			const struct gitlinked *g)
{
	struct contribution no = declined_of(c->a, g);
	struct trust_store store;
	struct err ignored;

	return trust_store_read(c->a, in->state, &store, &ignored) == 0 &&
	       trust_store_find(&store, str_of(in->workspace),
				str_of(no.digest));
}

void trust_linked_find(struct compilation *c, const struct inputs *in,
		       struct trust_linked *out)
{
	*out = (struct trust_linked){.state = TRUST_NOTHING};
	found_linked(c->a, in, &out->git);
	switch (out->git.kind) {
	case GITLINKED_NONE:
	case GITLINKED_FOLDER:
	case GITLINKED_REFUSED:
		return;
	case GITLINKED_WORKTREE:
	case GITLINKED_MODULE:
	case GITLINKED_PART:
		break;
	}
	out->adds = made_of(c->a, gitlinked_text(c->a, &out->git));
	out->state = trust_state(c, in, &out->adds, &out->err);
	if (out->state == TRUST_OPEN)
		out->declined = is_declined(c, in, &out->git);
}

static const char *about(const struct gitlinked *g)
{
	if (g->kind == GITLINKED_MODULE)
		return "That folder lies outside of the workspace, which is a submodule. "
		       "With it git works in a session: whatever was ever committed there can be read, "
		       "and all of it written but hooks and configuration.";
	if (g->kind == GITLINKED_PART)
		return "The workspace is a folder of that repository. "
		       "With it git works in a session, at the folder's own path: whatever was ever committed there can be read, "
		       "the names and sizes of all its files too, and all of it written but hooks and configuration. "
		       "Of the files beside the workspace .gitignore, .gitattributes and .gitmodules above it can be read, and none written.";
	return "That repository lies outside of the workspace, which is a worktree of it. "
	       "With it git works in a session: whatever was ever committed there can be read; "
	       "objects, refs, logs and the worktree's own files can be written; "
	       "hooks, configuration and the files of other worktrees cannot.";
}

void trust_linked_view(const struct view *v, const struct gitlinked *g)
{
	struct arena *a = v->out->a;

	buf_addf(v->out, "  + %s\n", view_cleaned(a, gitlinked_text(a, g)).p);
	view_paragraph(v, str_of(about(g)));
}

bool trust_linked_ask(int tty, struct compilation *c, const struct inputs *in,
		      const struct trust_linked *t)
{
	struct str where = view_cleaned(c->a, str_of(in->workspace));
	struct buf out;
	struct view v = {&out, console_width(tty), console_colour(tty)};

	buf_init(&out, c->a);
	buf_addf(&out, "membrane: git in %s needs more than that folder:\n",
		 where.p);
	trust_linked_view(&v, &t->git);
	return confirm_ask(tty, buf_str(&out),
			   STR("Give it to sessions in this folder? [y/N] "));
}

int trust_linked_keep(struct compilation *c, const struct inputs *in,
		      const struct trust_linked *t, bool yes, struct err *err)
{
	struct contribution no = declined_of(c->a, &t->git);
	const struct contribution *x = yes ? &t->adds : &no;

	return trust_store_add(c->a, in->state, str_of(in->workspace),
			       str_of(x->digest), &x->adds, &x->cuts, err);
}
