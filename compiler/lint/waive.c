#include "compiler/lint/waive.h"

#include "compiler/base/date.h"
#include "compiler/base/gitignore.h"
#include "compiler/base/lint.h"

struct waive {
	struct pass_ctx *c;
	const struct ir_policy *p;
	uint32_t today;
	bool *used; /* one for each exception */
	waived_list *out;
};

static bool is_over(const struct waive *v, const struct ir_waiver *w)
{
	return w->has_until && v->today > w->until;
}

/* A preset, or a file that another one extends: it answers for itself. */
static bool is_extended(const struct source *s)
{
	return s->layer == LAYER_PRESET || source_is_preset(s);
}

/* May this exception speak of that warning? waive.h says whose may. */
static bool has_say(const struct waive *v, const struct ir_waiver *w,
		    const struct diag_view *view)
{
	const struct source *from = sources_of(v->c->sources, w->from.at);
	const struct source *about = sources_of(v->c->sources, view->at);

	if (is_extended(from))
		return about == from;
	if (w->from.layer != LAYER_WORKSPACE)
		return true;
	if (!about)
		return w->kind != IR_WAIVER_ALL;
	return about->layer == LAYER_WORKSPACE && !is_extended(about);
}

/* What a warning is about: what it said, or else what stands at its place. */
static struct str subject_of(const struct waive *v,
			     const struct diag_view *view)
{
	struct str s = view->subject;

	if (s.n)
		return s;
	s = sources_text(v->c->sources, view->at);
	if (s.n >= 2 && (s.p[0] == '"' || s.p[0] == '\''))
		s = str_slice(s, 1, s.n - 1);
	return s;
}

/* A file of the workspace, by a pattern of it or of a folder above it. */
static bool matches_path(const struct waive *v, struct str pattern,
			 struct str path)
{
	struct gitignore *g = gitignore_new(v->c->a);
	bool is_dir = false;

	if (gitignore_add(g, pattern, NULL) != GITIGNORE_OK)
		return false;
	for (; path.n; path = str_parent(path), is_dir = true)
		if (gitignore_match(g, path, is_dir, NULL) == GITIGNORE_MATCH)
			return true;
	return false;
}

static bool covers_place(const struct waive *v, const struct ir_waiver *w,
			 const struct diag_view *view)
{
	switch (w->kind) {
	case IR_WAIVER_ALL:
		return true;
	case IR_WAIVER_DEST:
		return str_eq(w->subject, subject_of(v, view));
	case IR_WAIVER_TEXT:
		if (view->id == DIAG_VISIBLE_SECRET)
			return matches_path(v, w->subject, view->subject);
		return str_eq(w->subject, subject_of(v, view));
	}
	return false;
}

/*
 * An exception that hides nothing here may yet be right: another file excepts
 * from the same warning, or the same rule stands in another file, too, and a
 * warning has one place.
 */
static bool keep_warning(void *ctx, const struct diag_view *view)
{
	struct waive *v = ctx;
	const struct source *by = NULL;

	vec_each(w, &v->p->waivers) {
		const struct source *from =
			sources_of(v->c->sources, w->from.at);
		bool *used = &v->used[w - v->p->waivers.v];

		if (w->lint != (int)view->id || is_over(v, w) ||
		    !covers_place(v, w, view))
			continue;
		if (!has_say(v, w, view)) {
			*used |= w->kind != IR_WAIVER_ALL;
		} else if (by) {
			*used |= by != from;
		} else {
			*used = true;
			by = from;
			*vec_push(v->c->a, v->out) = (struct waived){*view, w};
		}
	}
	return !by;
}

static bool needs_look(const struct ir_waiver *w)
{
	return w->lint == DIAG_UNMATCHED_PATTERN ||
	       w->lint == DIAG_MISTAKEN_PATTERN ||
	       w->lint == DIAG_VISIBLE_SECRET;
}

static void warn_over(struct waive *v, const struct ir_waiver *w)
{
	diag_warn(v->c->diags, DIAG_WAIVER_EXPIRED, w->until_at,
		  "the exception from '%s' ended on %s",
		  lint_of((enum diag_id)w->lint)->name,
		  date_text(v->c->a, w->until).p);
	diag_help(v->c->diags,
		  "look at the warning again: a later date, or no exception");
}

static void warn_unused(struct waive *v, const struct ir_waiver *w)
{
	diag_warn(v->c->diags, DIAG_WAIVER_UNUSED, w->from.at,
		  "this exception from '%s' hides nothing",
		  lint_of((enum diag_id)w->lint)->name);
	diag_help(
		v->c->diags,
		w->from.layer == LAYER_WORKSPACE
			? "remove it; a workspace's exceptions hold for its own rules alone"
			: "remove it");
}

void waive_warnings(struct pass_ctx *c, const struct ir_policy *p,
		    uint32_t today, bool looked, waived_list *out)
{
	struct waive v = {c, p, today, NULL, out};

	if (p->waivers.n == 0)
		return;
	v.used = arena_array(c->a, p->waivers.n, sizeof(*v.used));
	diags_filter(c->diags, keep_warning, &v);
	vec_each(w, &p->waivers) {
		if (is_over(&v, w))
			warn_over(&v, w);
		else if (!v.used[w - p->waivers.v] &&
			 w->from.layer != LAYER_GLOBAL &&
			 (looked || !needs_look(w)))
			warn_unused(&v, w);
	}
}
