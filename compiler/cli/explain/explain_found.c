/*
 * What the workspace, as it is now, does to a path beside the policy: what git
 * runs or reads is read-only, what links of hidden files lead to is hidden.
 */
#include "compiler/cli/explain/explain_model.h"

#include "compiler/cli/text/view.h"
#include "compiler/cli/workspace/found.h"
#include "runtime/launch/workspace/wspath.h"

#include <stdlib.h>

static struct str git_sentence(struct arena *a, const struct gitfound_path *p)
{
	const char *path = view_cleaned(a, p->path).p;

	if (p->is_own)
		return arena_fmt(
			a,
			"'%s' belongs to a git repository, which runs or reads it, so it is read-only",
			path);
	return arena_fmt(a, "git runs or reads '%s' (%s), so it is read-only",
			 path, view_cleaned(a, p->at.key).p);
}

static struct str mask_sentence(struct arena *a, const struct scan *found,
				const struct mask *m, struct str asked)
{
	struct str path = view_cleaned(a, m->path);

	vec_each(n, &found->notes)
		if (str_eq(n->path, m->path) && !m->by_link)
			return arena_fmt(a, "'%s' %s", path.p,
					 scan_note_text(n->kind));
	if (m->by_link)
		return arena_fmt(a,
				 "a link that a pattern matches leads to '%s'",
				 path.p);
	if (!str_eq(asked, m->path) && !wspath_below(asked, m->path))
		return arena_fmt(
			a,
			"a link leads from there to '%s', which a pattern matches",
			path.p);
	if (m->kind == MASK_IGNORE_DIR || m->kind == MASK_READONLY_DIR)
		return arena_fmt(a,
				 "'%s' is a folder, and a pattern matches it",
				 path.p);
	return arena_fmt(
		a,
		"'%s' is another name (a hard link) of a file that a pattern matches",
		path.p);
}

static struct str held_sentence(struct arena *a, const struct found *f,
				const struct looked_word *w, struct str asked)
{
	switch (w->kind) {
	case LOOKED_MASK:
		return mask_sentence(a, &f->looked.found, w->mask, asked);
	case LOOKED_HOLD:
		return arena_fmt(
			a,
			"'%s' is read-only, and links lead from there to here",
			view_cleaned(a, w->path).p);
	case LOOKED_GIT:
		return git_sentence(a, w->git);
	case LOOKED_WHOLE:
		return STR(
			"you cannot write to the workspace's folder, so all of it is read-only");
	}
	abort();
}

static void hold_path(struct arena *a, struct found *f,
		      const struct looked_word *w, enum reason reason,
		      struct explanation *out)
{
	struct str path = out->request->path;

	out->held.text = held_sentence(a, f, w, str_unslashed(path));
	if (w->kind == LOOKED_GIT && !w->git->is_own) {
		out->held.source = view_cleaned(a, w->git->at.file);
		out->held.line = found_line(f, w->git);
	}
	if (out->decision.verdict == VERDICT_DENY)
		return;
	out->decision = (struct decision){.reason = reason};
	out->has_rule = false;
}

/* Has git what is hidden there, or below it? */
static bool is_committed(struct found *f, struct str path)
{
	path = str_unslashed(path);
	vec_each(p, &found_committed(f)->paths)
		if (str_eq(*p, path) || wspath_below(*p, path))
			return true;
	return false;
}

/* Hidden because a scan could not look into it, which a view need not. */
static bool is_unseen(const struct scan *found, const struct looked_word *w)
{
	if (w->kind != LOOKED_MASK || w->mask->by_link)
		return false;
	vec_each(n, &found->notes)
		if ((n->kind == SCAN_NOTE_UNREADABLE ||
		     n->kind == SCAN_NOTE_TOO_DEEP) &&
		    str_eq(n->path, w->mask->path))
			return true;
	return false;
}

void explain_found(struct arena *a, struct found *f, bool view,
		   struct explanation *out)
{
	const struct ir_request *r = out->request;
	bool write = r->kind == IR_REQ_WRITE;
	bool allow = out->decision.verdict == VERDICT_ALLOW;
	struct looked_word w;

	if (str_starts(r->path, STR("~/")))
		return;
	if (allow && looked_hides(a, &f->looked, r->path, &w) &&
	    !(view && is_unseen(&f->looked.found, &w)))
		hold_path(a, f, &w, REASON_IGNORED, out);
	else if (write && looked_holds(a, &f->looked, r->path, &w))
		hold_path(a, f, &w, REASON_READONLY, out);
	else if (write && allow &&
		 looked_keeps(a, &f->looked, r->path, &w))
		hold_path(a, f, &w, REASON_READONLY, out);
	out->committed =
		!write && out->decision.verdict == VERDICT_DENY &&
		is_committed(f, r->path);
}
