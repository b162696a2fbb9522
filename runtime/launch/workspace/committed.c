#include "runtime/launch/workspace/committed.h"

#include "compiler/base/buf.h"
#include "runtime/launch/workspace/gitcmd.h"
#include "runtime/launch/workspace/wspath.h"

#include <errno.h>
#include <stdlib.h>

#define LISTING_MAX (64u << 20)
#define TIMEOUT_MS  5000
#define NAMED_MAX   5u
#define FOUND_MAX   10000u

struct look {
	struct arena *a;
	struct str root_path;
	VEC(struct str) hidden; /* sorted */
	scan_paths places;	/* where git was asked */
	struct committed *out;
};

static int by_path(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static bool is_hidden(const struct look *l, struct str path)
{
	for (; path.n; path = str_parent(path))
		if (bsearch(&path, l->hidden.v, l->hidden.n, sizeof(path),
			    by_path))
			return true;
	return false;
}

static void add_unknown(struct look *l, struct str place, const char *why)
{
	*vec_push(l->a, &l->out->unknown) = arena_fmt(
		l->a,
		"%s: %s, so it is not known whether git has committed what is hidden",
		place.n ? wspath_show(l->a, place) : "the workspace", why);
}

/* place: a folder of the workspace that a repository's files are in. */
static void ask_git(struct look *l, struct str place)
{
	static const char *const words[] = {
		"-c", "safe.directory=*", "ls-files", "-z", "--cached", NULL};
	struct gitcmd g = {
		.dir = arena_cstr(l->a,
				  gitrepos_path(l->a, l->root_path, place)),
		.words = words,
		.of = GITCMD_NOBODY,
		.max = LISTING_MAX,
		.timeout_ms = TIMEOUT_MS,
	};
	struct str name;
	struct err err;

	if (gitcmd_run(l->a, &g, &err) < 0) {
		add_unknown(l, place,
			    err.code == -ENOENT ? "there is no git here"
						: err.text);
		return;
	}
	if (g.status) {
		add_unknown(l, place, "git cannot list its index");
		return;
	}
	while (str_field(&g.text, '\0', &name) && name.n) {
		struct str path = wspath_join(l->a, place, name);

		if (is_hidden(l, path) && l->out->paths.n < FOUND_MAX)
			*vec_push(l->a, &l->out->paths) = path;
	}
}

/* Once for each folder, and for a repository above: the workspace. */
static void look_at(struct look *l, const struct gitrepo *r)
{
	struct str place = STR("");

	if (str_eq(r->base, r->dir))
		return; /* a bare one: it has no files */
	if (wspath_below(r->base, l->root_path))
		place = str_slice(r->base, l->root_path.n + 1, r->base.n);
	else if (!str_eq(r->base, l->root_path) &&
		 !wspath_below(l->root_path, r->base))
		return;
	vec_each(p, &l->places)
		if (str_eq(*p, place))
			return;
	*vec_push(l->a, &l->places) = place;
	ask_git(l, place);
}

void committed_find(struct arena *a, struct str root_path,
		    const struct scan *found, const struct gitrepos *repos,
		    struct committed *out)
{
	struct look l = {.a = a, .root_path = root_path, .out = out};

	*out = (struct committed){0};
	vec_each(m, &found->masks)
		if (m->kind == MASK_IGNORE_DIR || m->kind == MASK_IGNORE_FILE)
			*vec_push(a, &l.hidden) = m->path;
	if (l.hidden.n == 0)
		return;
	vec_sort(&l.hidden, by_path);
	vec_each(r, &repos->list)
		look_at(&l, r);
	vec_sort(&out->paths, by_path);
}

struct str committed_text(struct arena *a, const struct committed *c)
{
	struct buf b;

	buf_init(&b, a);
	for (uint32_t i = 0; i < c->paths.n && i < NAMED_MAX; i++)
		buf_addf(&b, "%s%s", i ? ", " : "",
			 wspath_show(a, c->paths.v[i]));
	if (c->paths.n > NAMED_MAX)
		buf_addf(&b, " and %u more", c->paths.n - NAMED_MAX);
	return buf_str(&b);
}
