#include "runtime/launch/workspace/gitfound.h"

#include "compiler/base/sys/fileio.h"
#include "runtime/launch/workspace/gitcmd.h"
#include "runtime/launch/workspace/gitkeys.h"
#include "runtime/launch/workspace/wspath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#define CONFIG_MAX    (1u << 20) /* of one file */
#define LISTING_MAX   (4u << 20) /* of what git makes of it */
#define CONFIGS_MAX   4096u	 /* files, each per place of a repository */
#define INCLUDES_DEEP 10u	 /* as deep as git goes itself */
#define PATHS_MAX     1024u
#define VALUE_MAX     1024u /* longer paths are none */
#define TIMEOUT_MS    5000

struct entry {
	struct str key, value;
};

/* A file of configuration, read once. */
struct config {
	struct str path; /* absolute */
	struct str text;
	bool ok;
	VEC(struct entry) entries;
};

/* The same file counts anew for each repository that it holds for. */
struct seen {
	struct str path, base;
};

struct look {
	struct arena *a;
	struct str root_path;
	struct gitfound *out;
	bool no_git;
	VEC(struct config *) configs;
	VEC(struct seen) seen;
	/* of the file at hand */
	const struct gitrepo *repo;
	bool users; /* nobody who wrote the repository wrote it */
	unsigned depth;
};

static void read_file(struct look *l, struct str path);

static void add_note(struct look *l, struct str text)
{
	*vec_push(l->a, &l->out->notes) = text;
}

/* --- reading --------------------------------------------------------------
 */

/* The entries of text, in their order; those before what git cannot read. */
static int list_entries(struct arena *a, struct str text, struct str *out,
			struct str *out_complaint, struct err *err)
{
	static const char *const words[] = {
		"--git-dir=/dev/null", "config", "--file", "-",
		"--no-includes",       "--list", "-z",	   NULL};
	struct gitcmd g = {.dir = "/",
			   .words = words,
			   .of = GITCMD_NOBODY,
			   .input = text,
			   .max = LISTING_MAX,
			   .timeout_ms = TIMEOUT_MS};
	int rc = text.n ? gitcmd_run(a, &g, err) : 0;

	*out = g.text;
	*out_complaint = g.status ? g.complaint : STR("");
	return rc;
}

static struct str shown_path(const struct look *l, struct str path)
{
	const char *home = getenv("HOME");

	if (wspath_below(path, l->root_path))
		path = str_slice(path, l->root_path.n + 1, path.n);
	else if (home && *home && wspath_below(path, str_of(home)))
		path = arena_fmt(
			l->a, "~%.*s",
			STR_ARG(str_slice(path, strlen(home), path.n)));
	return str_of(wspath_show(l->a, path));
}

static void parse_config(struct look *l, struct config *c)
{
	struct str text, complaint, one;
	struct err err;

	if (list_entries(l->a, c->text, &text, &complaint, &err) < 0) {
		l->no_git |= err.code == -ENOENT;
		if (!l->no_git)
			add_note(l, arena_fmt(l->a, "%.*s: %s",
					      STR_ARG(shown_path(l, c->path)),
					      err.text));
		return;
	}
	while (str_field(&text, '\0', &one) && one.n) {
		struct entry *e = vec_push(l->a, &c->entries);

		str_field(&one, '\n', &e->key);
		e->value = one;
	}
	if (complaint.n)
		add_note(
			l,
			arena_fmt(
				l->a,
				"%.*s: git cannot read this behind its first %u settings, and takes none of it",
				STR_ARG(shown_path(l, c->path)), c->entries.n));
	c->ok = true;
}

/* NULL: there is none, or it was said why not. */
static struct config *load_config(struct look *l, struct str path)
{
	const char *name = arena_cstr(l->a, path);
	struct config *c;
	struct stat st;
	struct err err;

	vec_each(known, &l->configs)
		if (str_eq((*known)->path, path))
			return (*known)->ok ? *known : NULL;
	if (str_is(path, "/dev/null") ||
	    (stat(name, &st) < 0 && (errno == ENOENT || errno == ENOTDIR)))
		return NULL;
	c = *vec_push(l->a, &l->configs) = arena_new_of(l->a, struct config);
	c->path = path;
	/* opening what is no file may do something */
	if (stat(name, &st) == 0 && !S_ISREG(st.st_mode))
		err_set(&err, -EINVAL, "not a regular file");
	else if (fileio_read(l->a, AT_FDCWD, name, CONFIG_MAX, &c->text,
			     &err) == 0) {
		parse_config(l, c);
		return c->ok ? c : NULL;
	}
	add_note(
		l,
		arena_fmt(
			l->a,
			"%.*s: not read (%s), so what it makes git run is not held",
			STR_ARG(shown_path(l, path)),
			str_starts(str_of(err.text), path)
				? err.text + path.n + 2
				: err.text));
	return NULL;
}

/* --- values ---------------------------------------------------------------
 */

static struct gitfound_at at_entry(const struct look *l, const struct config *c,
				   const struct entry *e)
{
	return (struct gitfound_at){.key = e->key,
				    .file = shown_path(l, c->path),
				    .text = c->text,
				    .index = (uint32_t)(e - c->entries.v)};
}

static void add_path(struct look *l, struct str path, bool is_dir,
		     const struct gitfound_at *at)
{
	struct gitfound_path p = {
		.path = path, .is_dir = is_dir, .is_own = at == NULL};

	vec_each(known, &l->out->paths)
		if (str_eq(known->path, path) && known->is_own == p.is_own)
			return;
	if (l->out->paths.n >= PATHS_MAX) {
		add_note(
			l,
			STR("git's configuration names too much: not all of it is held"));
		return;
	}
	if (at)
		p.at = *at;
	*vec_push(l->a, &l->out->paths) = p;
}

/* Of the workspace; false where it is outside, or the workspace itself. */
static bool make_relative(const struct look *l, struct str path,
			  struct str *out, bool *out_root)
{
	*out_root = str_eq(path, l->root_path);
	if (*out_root || !wspath_below(path, l->root_path))
		return false;
	*out = str_slice(path, l->root_path.n + 1, path.n);
	return true;
}

/* As git expands a path; empty: none of ours to judge. */
static struct str expand_path(struct look *l, struct str base, struct str value)
{
	const char *home = getenv("HOME");

	if (str_starts(value, STR(":(optional)")))
		value = str_slice(value, 11, value.n);
	if (value.n == 0 || value.n > VALUE_MAX ||
	    memchr(value.p, '\0', value.n))
		return STR("");
	if (str_starts(value, STR("~/")))
		return home ? gitrepos_path(l->a, str_of(home),
					    str_slice(value, 2, value.n))
			    : STR("");
	return gitrepos_path(l->a, base, value);
}

/*
 * Where a path leads: by its text, and by its links where these lead elsewhere.
 * True when one of them is the workspace itself.
 */
static bool add_place(struct look *l, struct str path, bool is_dir,
		      const struct gitfound_at *at)
{
	char real[PATH_MAX];
	bool root = false, also = false;
	struct str rel;

	if (make_relative(l, path, &rel, &root))
		add_path(l, rel, is_dir, at);
	if (realpath(arena_cstr(l->a, path), real) && !str_is(path, real) &&
	    make_relative(l, arena_str(l->a, str_of(real)), &rel, &also))
		add_path(l, rel, is_dir, at);
	return root || also;
}

static void add_folder(struct look *l, struct str value,
		       const struct gitfound_at *at)
{
	struct str path = expand_path(l, l->repo->base, value);
	struct str base = l->repo->base;

	if (path.n == 0)
		return;
	if (str_eq(path, base) || wspath_below(base, path) ||
	    add_place(l, path, true, at))
		*vec_push(l->a, &l->out->loose) =
			(struct gitfound_loose){value, true, *at};
}

/* A file that git reads as more configuration, wherever it is. */
static void add_include(struct look *l, const struct config *c,
			struct str value, const struct gitfound_at *at)
{
	struct str path = expand_path(l, str_parent(c->path), value);

	if (path.n == 0)
		return;
	add_place(l, path, false, at);
	if (l->depth >= INCLUDES_DEEP)
		return;
	l->depth++;
	read_file(l, path);
	l->depth--;
}

static bool is_file(struct look *l, struct str path)
{
	struct stat st;

	return stat(arena_cstr(l->a, path), &st) == 0 && S_ISREG(st.st_mode);
}

/*
 * One word of a command line. "$(git rev-parse --show-toplevel)/x" leaves an
 * absolute "/x": that is looked for below the repository, too.
 */
static bool add_word(struct look *l, const struct gitkeys_word *w,
		     const struct gitfound_at *at)
{
	bool slash = memchr(w->text.p, '/', w->text.n) != NULL;
	struct str path = expand_path(l, l->repo->base, w->text), rel;
	bool root;

	if (path.n == 0 || (!slash && !w->script))
		return false;
	if (w->text.p[0] == '/' && !make_relative(l, path, &rel, &root))
		path = is_file(l, path) && !make_relative(l, path, &rel, &root)
			       ? path
			       : expand_path(l, l->repo->base,
					     str_slice(w->text, 1, w->text.n));
	if (path.n == 0 ||
	    !(is_file(l, path) || (w->program && slash && w->text.p[0] != '/')))
		return false;
	add_place(l, path, false, at);
	return make_relative(l, path, &rel, &root);
}

static void add_command(struct look *l, enum gitkeys_kind kind,
			struct str value, const struct gitfound_at *at)
{
	struct gitkeys_command c;
	bool held = false;

	gitkeys_command(l->a, kind, value, &c);
	vec_each(w, &c.words)
		held |= add_word(l, w, at);
	/* what the user's own settings run is what the user runs */
	if (c.open && (held || !l->users))
		*vec_push(l->a, &l->out->loose) =
			(struct gitfound_loose){value, false, *at};
}

static void take_entry(struct look *l, const struct config *c,
		       const struct entry *e)
{
	enum gitkeys_kind kind = gitkeys_kind(e->key);
	struct gitfound_at at = at_entry(l, c, e);
	struct gitrepo moved = *l->repo;

	switch (kind) {
	case GITKEYS_NONE:
		return;
	case GITKEYS_HOOKS:
	case GITKEYS_TEMPLATE:
		add_folder(l, e->value, &at);
		return;
	case GITKEYS_INCLUDE:
		add_include(l, c, e->value, &at);
		return;
	case GITKEYS_WORKTREE:
		/* a further place: it gets its turn */
		moved.base = expand_path(l, moved.dir, e->value);
		if (moved.base.n)
			gitrepos_add(l->a, &l->out->repos, moved);
		return;
	case GITKEYS_COMMAND:
	case GITKEYS_SHELL:
	case GITKEYS_REMOTE:
		add_command(l, kind, e->value, &at);
		return;
	}
}

static void read_file(struct look *l, struct str path)
{
	const struct config *c;

	vec_each(s, &l->seen)
		if (str_eq(s->path, path) && str_eq(s->base, l->repo->base))
			return;
	if (l->seen.n >= CONFIGS_MAX) {
		if (l->seen.n == CONFIGS_MAX)
			add_note(
				l,
				STR("git's configuration is in too many files: not all were read"));
		l->seen.n = CONFIGS_MAX + 1;
		return;
	}
	*vec_push(l->a, &l->seen) = (struct seen){path, l->repo->base};
	c = load_config(l, path);
	for (uint32_t i = 0; c && i < c->entries.n; i++)
		take_entry(l, c, &c->entries.v[i]);
}

/* --- repositories ---------------------------------------------------------
 */

/* The user's own: relative paths in them lead into every repository. */
static void read_users(struct look *l)
{
	const char *home = getenv("HOME"), *xdg = getenv("XDG_CONFIG_HOME");
	const char *global = getenv("GIT_CONFIG_GLOBAL");
	const char *system = getenv("GIT_CONFIG_SYSTEM");

	l->users = true;
	read_file(l, str_of(system && *system ? system : "/etc/gitconfig"));
	if (global && *global) {
		read_file(l, str_of(global));
	} else {
		if (xdg && *xdg)
			read_file(l, arena_fmt(l->a, "%s/git/config", xdg));
		else if (home && *home)
			read_file(l, arena_fmt(l->a, "%s/.config/git/config",
					       home));
		if (home && *home)
			read_file(l, arena_fmt(l->a, "%s/.gitconfig", home));
	}
	l->users = false;
}

static void read_repository(struct look *l)
{
	const struct gitrepo *r = l->repo;

	read_file(l, arena_fmt(l->a, "%.*s/config", STR_ARG(r->common)));
	read_file(l, arena_fmt(l->a, "%.*s/config.worktree", STR_ARG(r->dir)));
	if (gitrepos_is_linked(r))
		read_file(l, arena_fmt(l->a, "%.*s/config.worktree",
				       STR_ARG(r->common)));
	read_users(l);
}

/*
 * What git reads as configuration in a repository, and the folder of hooks.
 * With a commondir the first two are elsewhere.
 */
static void hold_own(struct look *l)
{
	vec_each(dir, &l->out->repos.inside) {
		struct gitrepo r = {
			.dir = gitrepos_path(l->a, l->root_path, *dir)};
		struct gitrepos alone = {0};

		gitrepos_add(l->a, &alone, r);
		if (!gitrepos_is_linked(&alone.list.v[0])) {
			add_path(l, wspath_join(l->a, *dir, STR("hooks")), true,
				 NULL);
			add_path(l, wspath_join(l->a, *dir, STR("config")),
				 false, NULL);
		}
		add_path(l, wspath_join(l->a, *dir, STR("config.worktree")),
			 false, NULL);
		add_path(l, wspath_join(l->a, *dir, STR("commondir")), false,
			 NULL);
	}
}

/* No link: what that leads to is a whole repository, to be written to. */
static bool is_plain(const struct look *l, struct str path)
{
	const char *name =
		arena_cstr(l->a, gitrepos_path(l->a, l->root_path, path));
	struct stat st;

	return lstat(name, &st) == 0 && S_ISREG(st.st_mode);
}

void gitfound_look(struct arena *a, struct str root_path,
		   const struct scan *found, struct gitfound *out)
{
	struct look l = {.a = a, .root_path = root_path, .out = out};

	*out = (struct gitfound){0};
	gitrepos_find(a, root_path, found, &out->repos);
	hold_own(&l);
	/* which repository a file names is not to be changed either */
	vec_each(link, &found->gitlinks)
		if (is_plain(&l, *link))
			add_path(&l, *link, false, NULL);
	/* core.worktree may add to the list; the list may move */
	for (uint32_t i = 0; i < out->repos.list.n; i++) {
		struct gitrepo r = out->repos.list.v[i];

		l.repo = &r;
		read_repository(&l);
	}
	if (out->repos.cut)
		add_note(
			&l,
			arena_fmt(
				a,
				"more than %u git repositories: the configuration of the others is not read",
				GITREPOS_MAX));
	if (l.no_git)
		add_note(
			&l,
			STR("there is no git here to read its configuration: what that makes git run is not held"));
}

void gitfound_hold(struct arena *a, const struct gitfound *g,
		   struct mountsplan *plan)
{
	vec_each(p, &g->paths)
		*vec_push(a, &plan->holds) =
			(struct mountsplan_hold){p->path, p->is_dir};
}

/* --- lines ----------------------------------------------------------------
 */

static uint32_t count_entries(struct arena *a, struct str text)
{
	struct str out, complaint, one;
	struct err ignored;
	uint32_t n = 0;

	if (list_entries(a, text, &out, &complaint, &ignored) < 0)
		return 0;
	while (str_field(&out, '\0', &one) && one.n)
		n++;
	return n;
}

/* The first line with which git knows of the entry: halving finds it. */
uint32_t gitfound_line(struct arena *a, const struct gitfound_at *at)
{
	uint32_t lo = 1, hi = 0;
	VEC(size_t) ends = {0};

	for (size_t i = 0; i < at->text.n; i++)
		if (at->text.p[i] == '\n')
			*vec_push(a, &ends) = i + 1;
	if (at->text.n && at->text.p[at->text.n - 1] != '\n')
		*vec_push(a, &ends) = at->text.n;
	hi = ends.n;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		struct str head = str_slice(at->text, 0, ends.v[mid - 1]);

		if (count_entries(a, head) > at->index)
			hi = mid;
		else
			lo = mid + 1;
	}
	return hi;
}
