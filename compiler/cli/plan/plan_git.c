/*
 * What `run` would find of git in the workspace, as it is now: what git's
 * configuration makes git run, and what git has committed of what is hidden.
 * None of it is in the artefacts, which depend on the policy alone.
 */
#include "compiler/cli/plan/parts.h"

#define LOOSE_MAX 5u /* commands that are risks of their own */

struct finder {
	struct arena *a;
	struct found found;
	const struct gitfound *git; /* in found */
	risk_list *risks;
};

static void add_risk(struct finder *f, const char *id, struct str text)
{
	*vec_push(f->a, f->risks) = (struct risk){.id = id, .text = text};
}

static struct str place_text(struct finder *f, const struct gitfound_at *at)
{
	return arena_fmt(f->a, "%s, %s:%u", view_cleaned(f->a, at->key).p,
			 view_cleaned(f->a, at->file).p,
			 gitfound_line(f->a, at));
}

static void add_loose(struct finder *f)
{
	uint32_t n = 0, more = 0;

	vec_each(p, &f->git->loose) {
		struct str value =
			view_fit(f->a, view_cleaned(f->a, p->value), 60);

		if (p->is_root)
			add_risk(
				f, "git-hooks-here",
				arena_fmt(
					f->a,
					"git looks for hooks in '%s' (%s), with a whole repository in it, which cannot be read-only: a hook that the agent writes there runs on the host",
					value.p, place_text(f, &p->at).p));
		else if (n++ < LOOSE_MAX)
			add_risk(
				f, "git-command",
				arena_fmt(
					f->a,
					"git runs '%s' (%s): what that runs in its turn is not known, and not read-only",
					value.p, place_text(f, &p->at).p));
		else
			more++;
	}
	if (more)
		add_risk(
			f, "git-command",
			arena_fmt(
				f->a,
				"git's configuration has %u more such commands",
				more));
}

static void add_committed(struct finder *f)
{
	const struct committed *c = found_committed(&f->found);

	if (c->paths.n)
		add_risk(
			f, "committed",
			arena_fmt(
				f->a,
				"git has committed what is hidden, and the agent can read it from there: %s",
				committed_text(f->a, c).p));
	vec_each(note, &c->unknown)
		add_risk(f, "git-unread", view_cleaned(f->a, *note));
}

static void add_paths(struct finder *f, plan_git *out)
{
	vec_each(p, &f->git->paths) {
		if (p->is_own)
			continue;
		*vec_push(f->a, out) = (struct plan_git_path){
			.path = view_cleaned(f->a, p->path),
			.is_dir = p->is_dir,
			.key = view_cleaned(f->a, p->at.key),
			.file = view_cleaned(f->a, p->at.file),
			.line = found_line(&f->found, p),
		};
	}
}

void plan_git_find(struct arena *a, const struct inputs *in,
		   const struct plan *plan, plan_git *out, risk_list *risks)
{
	struct finder f = {.a = a, .risks = risks};
	struct err err;

	if (found_look(a, in, plan, &f.found, &err) < 0) {
		add_risk(
			&f, "git-unread",
			arena_fmt(
				a,
				"the workspace cannot be looked at (%s): what git would run there is not known",
				view_cleaned(a, str_of(err.text)).p));
		return;
	}
	f.git = &f.found.looked.git;
	add_paths(&f, out);
	add_committed(&f);
	add_loose(&f);
	vec_each(note, &f.git->notes)
		add_risk(&f, "git-unread", view_cleaned(a, *note));
	found_done(&f.found);
}

void plan_git_view(const struct view *v, const plan_git *g)
{
	struct arena *a = v->out->a;
	uint32_t i = 0;

	if (g->n == 0)
		return;
	view_title(v, "git runs or reads, so it is read-only, too", g->n,
		   "path");
	vec_each(p, g) {
		if (view_more(v, 2, i++, g->n))
			break;
		view_row(v, 2, VIEW_PLAIN,
			 arena_fmt(a, "%.*s%s  (%.*s)", STR_ARG(p->path),
				   p->is_dir ? "/" : "", STR_ARG(p->key)),
			 arena_fmt(a, "%.*s:%u", STR_ARG(p->file), p->line));
	}
}

cJSON *plan_git_json(const plan_git *g)
{
	cJSON *list = json_array();

	vec_each(p, g) {
		cJSON *o = json_object();

		json_put_str(o, "path", p->path);
		json_put_bool(o, "folder", p->is_dir);
		json_put_str(o, "key", p->key);
		json_put_str(o, "source", p->file);
		json_put_u64(o, "line", p->line);
		json_push(list, o);
	}
	return list;
}
