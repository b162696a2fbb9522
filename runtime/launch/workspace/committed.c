#include "runtime/launch/workspace/committed.h"

#include "compiler/base/buf.h"
#include "runtime/launch/workspace/gitcmd.h"
#include "runtime/launch/workspace/wspath.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#define LISTING_MAX (160u << 20) /* an entry is some 200 bytes and a path */
#define TIMEOUT_MS  5000
#define NAMED_MAX   5u
#define FOUND_MAX   10000u
#define LINKS_MAX   1000u
#define LINK_TEXTS  (LINKS_MAX * (PATH_MAX + 128u))

struct look {
	struct arena *a;
	struct str root_path;
	const struct gitignore *ignore;
	VEC(struct str) hidden; /* sorted */
	scan_paths places;	/* where git was asked */
	bool seen;		/* asked what it saw, too */
	struct committed *out;
};

static int by_path(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static bool is_mask(const struct look *l, struct str path)
{
	return bsearch(&path, l->hidden.v, l->hidden.n, sizeof(path), by_path);
}

static bool is_below_mask(const struct look *l, struct str path)
{
	while ((path = str_parent(path)).n)
		if (is_mask(l, path))
			return true;
	return false;
}

/* By SHA-1 and by SHA-256: of a blob without a byte. */
static bool is_empty_blob(struct str oid)
{
	return str_is(oid, "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391") ||
	       str_is(oid,
		      "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813");
}

static void add_file(struct look *l, const struct gitindex_file *f)
{
	bool below = is_below_mask(l, f->path);

	if ((!below && !is_mask(l, f->path)) || l->out->paths.n >= FOUND_MAX)
		return;
	*vec_push(l->a, &l->out->paths) = f->path;
	if (f->stage == 0)
		*vec_push(l->a, &l->out->files) = *f;
	if (is_empty_blob(f->oid))
		*vec_push(l->a, &l->out->empty) = f->path;
	l->out->in_folder |= below;
}

static void add_unknown(struct look *l, struct str place, const char *why)
{
	*vec_push(l->a, &l->out->unknown) = arena_fmt(
		l->a,
		"%s: %s, so it is not known whether git has committed what is hidden",
		place.n ? wspath_show(l->a, place) : "the workspace", why);
}

/* By its name, or a folder's that it is in. */
static bool is_matched(const struct look *l, struct str path)
{
	bool is_dir = false;

	for (; path.n; path = str_parent(path), is_dir = true)
		if (gitignore_match(l->ignore, path, is_dir, NULL) ==
		    GITIGNORE_MATCH)
			return true;
	return false;
}

/* Links are kept for later. False: git's words are not known. */
static bool read_entries(struct look *l, struct str place, struct str text,
			 struct buf *oids)
{
	struct gitindex_file f;

	while (text.n) {
		if (!gitindex_entry(&text, l->seen, &f))
			return false;
		f.path = wspath_join(l->a, place, f.path);
		if (f.kind != VIEW_OUTSIDE_LINK) {
			add_file(l, &f);
		} else if (f.stage == 0 && is_matched(l, f.path) &&
			   l->out->links.n < LINKS_MAX) {
			*vec_push(l->a, &l->out->links) = f;
			buf_addf(oids, "%.*s\n", STR_ARG(f.oid));
		}
	}
	return true;
}

/* What `cat-file --batch` says of the last links: "OID blob SIZE<LF>…<LF>".
 * What cannot be had has no text. */
static void read_links(struct look *l, const char *dir, struct str oids,
		       uint32_t first)
{
	static const char *const words[] = {"-c", "safe.directory=*",
					    "cat-file", "--batch", NULL};
	struct gitcmd g = {.dir = dir,
			   .words = words,
			   .of = GITCMD_NOBODY,
			   .input = oids,
			   .max = LINK_TEXTS,
			   .timeout_ms = TIMEOUT_MS};
	struct str head, word;
	struct err ignored;

	if (gitcmd_run(l->a, &g, &ignored) < 0 || g.status)
		return;
	for (uint32_t i = first; i < l->out->links.n; i++) {
		uint64_t size = 0;

		if (!str_line(&g.text, &head) ||
		    !str_field(&head, ' ', &word) ||
		    !str_field(&head, ' ', &word) || !str_is(word, "blob") ||
		    !str_u64(head, g.text.n, &size))
			return;
		word = str_slice(g.text, 0, size);
		if (size < PATH_MAX && !memchr(word.p, '\0', word.n))
			l->out->links.v[i].text = word;
		g.text = str_slice(g.text, size + 1, g.text.n);
	}
}

/* place: a folder of the workspace that a repository's files are in. */
static void ask_git(struct look *l, struct str place)
{
	const char *const words[] = {
		"-c", "safe.directory=*",	  "ls-files", "-z",
		"-s", l->seen ? "--debug" : NULL, NULL};
	struct gitcmd g = {
		.dir = arena_cstr(l->a,
				  gitrepos_path(l->a, l->root_path, place)),
		.words = words,
		.of = GITCMD_NOBODY,
		.max = LISTING_MAX,
		.timeout_ms = TIMEOUT_MS,
	};
	uint32_t links = l->out->links.n;
	struct buf oids;
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
	buf_init(&oids, l->a);
	if (!read_entries(l, place, g.text, &oids))
		add_unknown(l, place,
			    "git lists its index in a way that is not known");
	if (oids.n)
		read_links(l, g.dir, buf_str(&oids), links);
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

/* Of a conflict the index has a path up to three times. */
static void drop_repeated(scan_paths *paths)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < paths->n; i++)
		if (n == 0 || !str_eq(paths->v[n - 1], paths->v[i]))
			paths->v[n++] = paths->v[i];
	paths->n = n;
}

void committed_find(struct arena *a, struct str root_path,
		    const struct gitignore *ignore, const struct scan *found,
		    const struct gitrepos *repos, bool seen,
		    struct committed *out)
{
	struct look l = {.a = a,
			 .root_path = root_path,
			 .ignore = ignore,
			 .seen = seen,
			 .out = out};

	*out = (struct committed){0};
	vec_each(m, &found->masks)
		if (m->kind == MASK_IGNORE_DIR || m->kind == MASK_IGNORE_FILE)
			*vec_push(a, &l.hidden) = m->path;
	if (l.hidden.n == 0 && !found->hidden_link)
		return;
	vec_sort(&l.hidden, by_path);
	vec_each(r, &repos->list)
		look_at(&l, r);
	vec_sort(&out->paths, by_path);
	drop_repeated(&out->paths);
	vec_sort(&out->empty, by_path);
	drop_repeated(&out->empty);
}

/* Of `check-attr -z`: path, attribute and value, each with a NUL behind it. */
static bool has_filter(struct str text)
{
	struct str path, key, value;

	while (str_field(&text, '\0', &path) && str_field(&text, '\0', &key) &&
	       str_field(&text, '\0', &value))
		if (!str_is(value, "unspecified") && !str_is(value, "unset"))
			return true;
	return false;
}

bool committed_filtered(struct arena *a, struct str root_path,
			const struct committed *c)
{
	static const char *const words[] = {
		"-c",	   "safe.directory=*", "check-attr", "-z",
		"--stdin", "filter",	       NULL};
	struct gitcmd g = {.dir = arena_cstr(a, root_path),
			   .words = words,
			   .of = GITCMD_NOBODY,
			   .max = LISTING_MAX,
			   .timeout_ms = TIMEOUT_MS};
	struct err ignored;
	struct buf b;

	buf_init(&b, a);
	vec_each(path, &c->paths) {
		buf_add(&b, *path);
		buf_addc(&b, '\0');
	}
	g.input = buf_str(&b);
	return b.n && gitcmd_run(a, &g, &ignored) == 0 && g.status == 0 &&
	       has_filter(g.text);
}

void committed_emptied(struct arena *a, const struct committed *before,
		       const struct committed *now, struct committed *out)
{
	*out = (struct committed){0};
	vec_each(path, &now->empty)
		if (bsearch(path, before->paths.v, before->paths.n,
			    sizeof(*path), by_path) &&
		    !bsearch(path, before->empty.v, before->empty.n,
			     sizeof(*path), by_path))
			*vec_push(a, &out->paths) = *path;
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
