#include "runtime/launch/mounts/looked.h"

#include "runtime/launch/workspace/wspath.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct str looked_state_inside(const struct looked_at *at)
{
	struct str path = at->state;

	if (!path.n || !wspath_below(path, at->root_path))
		return STR("");
	return str_slice(path, at->root_path.n + 1, path.n);
}

/* The folder that records what the agent did is none of the agent's. */
static void hide_state(struct arena *a, const struct looked_at *at,
		       struct scan *found)
{
	struct str path = looked_state_inside(at);

	if (!path.n)
		return;
	*vec_push(a, &found->masks) =
		(struct mask){.path = path, .kind = MASK_IGNORE_DIR};
	*vec_push(a, &found->notes) =
		(struct scan_note){SCAN_NOTE_STATE, path, 0};
}

/*
 * Where path leads from the workspace's folder; what is missing there counts as
 * if it were there. Empty: out of it, or to the folder itself.
 */
static struct str resolve_path(struct arena *a, const struct looked *l,
			       struct str path)
{
	struct wspath_place to =
		wspath_resolve(a, l->at.root, l->at.root_path, STR(""), path);

	/* As the host sees it; else as it is seen in the container. */
	if (to.end == WSPATH_OUT)
		to = wspath_resolve(a, l->at.root, l->plan.target, STR(""),
				    path);
	switch (to.end) {
	case WSPATH_FOUND:
	case WSPATH_FILE:
		return to.path;
	case WSPATH_MISSING:
		return wspath_join(a, to.path, to.rest);
	case WSPATH_ROOT:
	case WSPATH_OUT:
		break;
	}
	return STR("");
}

int looked_make(struct arena *a, const struct looked_at *at, struct looked *out,
		struct err *err)
{
	int rc;

	*out = (struct looked){.at = *at, .found.readonly = at->readonly,
				.found.moves = at->moves};
	rc = mountsplan_read(a, at->mounts, &out->plan, err);
	if (rc == 0)
		rc = scan_workspace(a, at->root, at->root_path, &out->plan,
				    &out->found, err);
	if (rc < 0)
		return rc;
	gitfound_look(a, at->root_path, &out->found, &out->git);
	gitfound_hold(a, &out->git, &out->plan);
	hide_state(a, at, &out->found);
	vec_each(h, &out->plan.holds)
		*vec_push(a, &out->places) = resolve_path(a, out, h->path);
	return 0;
}

int looked_state(const char *state, const char *workspace, char out[PATH_MAX],
		 struct err *err)
{
	if (!realpath(state, out))
		return err_errno(err, state);
	if (strcmp(workspace, "/") == 0 || strcmp(workspace, out) == 0 ||
	    wspath_below(str_of(workspace), str_of(out)))
		return err_set(err, -EINVAL, "%s cannot be a workspace",
			       workspace);
	return 0;
}

void looked_git_notes(struct arena *a, const struct looked *l,
		      const struct committed *c, bool view, looked_notes *out)
{
	vec_each(n, &l->git.notes)
		*vec_push(a, out) = *n;
	vec_each(p, &l->git.loose)
		if (p->is_root)
			*vec_push(a, out) = arena_fmt(
				a,
				"%s: git's hooks are looked for in a folder with a whole repository in it, which cannot be read-only: a hook that the agent writes there runs on the host",
				wspath_show(a, p->at.file));
	if (c->paths.n)
		*vec_push(a, out) = arena_fmt(
			a,
			"git has committed what is hidden here, so that 'git show HEAD:FILE' gives it%s: %s",
			!view && c->in_folder
				? ", and a commit made inside can remove what is in a hidden folder"
				: "",
			committed_text(a, c).p);
	vec_each(n, &c->unknown)
		*vec_push(a, out) = *n;
}

/* --- asking --------------------------------------------------------------- */

static bool hides_place(enum mask_kind kind)
{
	switch (kind) {
	case MASK_IGNORE_DIR:
	case MASK_IGNORE_FILE:
		return true;
	case MASK_READONLY_DIR:
	case MASK_READONLY_FILE:
	case MASK_PIN_DIR:
		break;
	}
	return false;
}

static bool covers_path(struct str place, struct str path)
{
	return place.n && (str_eq(place, path) || wspath_below(path, place));
}

static bool find_mask(const struct looked *l, struct str path, bool hidden,
		      struct looked_word *out)
{
	vec_each(m, &l->found.masks) {
		if (hides_place(m->kind) != hidden ||
		    !covers_path(m->path, path))
			continue;
		*out = (struct looked_word){
			.kind = LOOKED_MASK, .path = m->path, .mask = m};
		return true;
	}
	return false;
}

/* What configuration names goes before what is a repository's own. */
static bool find_git(const struct looked *l, struct str path, bool own,
		     struct looked_word *out)
{
	uint32_t first = l->plan.holds.n - l->git.paths.n;

	vec_each(p, &l->git.paths) {
		uint32_t i = first + (uint32_t)(p - l->git.paths.v);

		if (p->is_own != own || !covers_path(l->places.v[i], path))
			continue;
		*out = (struct looked_word){
			.kind = LOOKED_GIT, .path = p->path, .git = p};
		return true;
	}
	return false;
}

static bool find_hold(const struct looked *l, struct str path,
		      struct looked_word *out)
{
	for (uint32_t i = 0; i + l->git.paths.n < l->plan.holds.n; i++) {
		if (!covers_path(l->places.v[i], path))
			continue;
		*out = (struct looked_word){.kind = LOOKED_HOLD,
					    .path = l->plan.holds.v[i].path};
		return true;
	}
	return false;
}

static struct str asked_place(struct arena *a, const struct looked *l,
			      struct str path)
{
	return resolve_path(a, l, str_unslashed(path));
}

bool looked_hides(struct arena *a, const struct looked *l, struct str path,
		  struct looked_word *out)
{
	struct str at = asked_place(a, l, path);

	return at.n && find_mask(l, at, true, out);
}

bool looked_holds(struct arena *a, const struct looked *l, struct str path,
		  struct looked_word *out)
{
	struct str at = asked_place(a, l, path);

	if (at.n == 0)
		return false;
	if (find_git(l, at, false, out) || find_git(l, at, true, out))
		return true;
	*out = (struct looked_word){.kind = LOOKED_WHOLE};
	return l->found.readonly;
}

bool looked_keeps(struct arena *a, const struct looked *l, struct str path,
		  struct looked_word *out)
{
	struct str at = asked_place(a, l, path);

	return at.n && (find_hold(l, at, out) || find_mask(l, at, false, out));
}

struct str looked_inside(const struct looked *l)
{
	return l->at.own ? str_of(l->at.own) : l->plan.target;
}
