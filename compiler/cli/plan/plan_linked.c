/*
 * What a session has of a repository that lies beside the workspace, or around
 * it: beyond the workspace, and so for somebody to approve. None of it is in
 * the artefacts.
 */
#include "compiler/cli/plan/parts.h"

#include <stdlib.h>

static const char *shown_text(const struct trust_linked *t)
{
	switch (t->state) {
	case TRUST_NOTHING:
	case TRUST_APPROVED:
		return "Approved.";
	case TRUST_ALWAYS:
		return "'workspace_trust: always': 'run' does not ask.";
	case TRUST_NEVER:
		return "'workspace_trust: never': git does not see it.";
	case TRUST_OPEN:
		return t->declined
			       ? "Declined: git does not see it. 'membrane trust' asks again."
			       : "Nobody approved this, so git does not see it: 'run' asks at a terminal, 'membrane trust' approves it.";
	case TRUST_UNKNOWN:
		return "Whether it is approved is not known: git does not see it.";
	}
	abort();
}

void plan_linked_view(const struct view *v, const struct trust_linked *t)
{
	if (t->git.kind == GITLINKED_NONE)
		return;
	view_title(v, "the workspace's git repository, beyond the workspace", 0,
		   NULL);
	if (t->git.kind == GITLINKED_FOLDER) {
		buf_addf(v->out,
			 "  not shown: the workspace is a folder of %s\n",
			 view_cleaned(v->out->a, t->git.common).p);
		return;
	}
	if (t->git.kind == GITLINKED_REFUSED) {
		buf_addf(v->out, "  not shown: %s\n",
			 view_cleaned(v->out->a, t->git.why).p);
		return;
	}
	trust_linked_view(v, &t->git);
	view_paragraph(v, str_of(shown_text(t)));
}

static const char *state_name(const struct trust_linked *t)
{
	switch (t->state) {
	case TRUST_NOTHING:
		return t->git.kind == GITLINKED_FOLDER ? "above" : "refused";
	case TRUST_ALWAYS:
	case TRUST_APPROVED:
		return "shown";
	case TRUST_NEVER:
	case TRUST_OPEN:
	case TRUST_UNKNOWN:
		return t->declined ? "declined" : "open";
	}
	abort();
}

cJSON *plan_linked_json(const struct trust_linked *t)
{
	cJSON *o = json_object();

	json_put_cstr(o, "state", state_name(t));
	if (t->git.kind == GITLINKED_REFUSED) {
		json_put_str(o, "why", t->git.why);
		return o;
	}
	json_put_str(o, "path", t->git.common);
	if (t->git.kind == GITLINKED_WORKTREE)
		json_put_str(o, "worktree", t->git.name);
	if (t->git.kind == GITLINKED_PART)
		json_put_str(o, "folder", t->git.name);
	return o;
}
