#include "compiler/lint/workspace.h"

#include "compiler/base/sys/clock.h"
#include "compiler/base/sys/fileio.h"
#include "compiler/base/gitignore.h"
#include "compiler/lint/parts.h"
#include "compiler/lint/secret_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Directory entries between two looks at the clock. */
#define CLOCK_EVERY 64u

/* A pattern of which it is not known yet that it matches something. */
struct waiting {
	const struct ir_pattern *pattern;
	struct gitignore *alone;
	struct mistaken mistaken;
	bool matched;
};

/* A folder that is to be looked into; "" is the root. */
struct folder {
	struct str path;
	bool readonly; /* it is, as a whole */
};

struct look {
	struct pass_ctx *c;
	int root;
	struct gitignore *ignore, *readonly, *secrets;
	struct workspace_counts counts;
	VEC(struct waiting) waiting;
	VEC(struct folder) queue;
	uint32_t entries, finds;
	int64_t end_ms;
	bool patterns;	 /* all of them are waited for */
	struct str path; /* of the workspace, on the host */
	bool stop;	 /* a bound was reached */
	bool whole;	 /* nothing was left out */
	char *room;	 /* SECRET_FILES_READ bytes */
};

static bool is_over(struct look *l)
{
	if (l->entries >= WORKSPACE_ENTRIES || l->finds >= WORKSPACE_FINDS ||
	    (l->entries % CLOCK_EVERY == 0 && clock_ms() > l->end_ms))
		l->stop = true;
	l->whole &= !l->stop;
	return l->stop;
}

/* --- patterns --------------------------------------------------------------
 */

/*
 * A path that is held even where it does not exist yet does something, and so
 * may what takes back; unless they are not what somebody meant.
 */
static void wait_for(struct look *l, const ir_patterns *list)
{
	vec_each(p, list) {
		struct waiting w = {.pattern = p};
		struct str line = str_slice(p->line, p->back, p->line.n);

		if (p->from.layer != LAYER_WORKSPACE &&
		    p->from.layer != LAYER_FLAGS)
			continue;
		w.mistaken = mistaken_pattern(l->c->a, line, l->path);
		if (!w.mistaken.fact && (!l->patterns || p->back || p->hold))
			continue;
		w.alone = gitignore_new(l->c->a);
		if (gitignore_add(w.alone, line, NULL) == GITIGNORE_OK)
			*vec_push(l->c->a, &l->waiting) = w;
	}
}

static void try_waiting(struct look *l, struct str path, bool is_dir)
{
	vec_each(w, &l->waiting)
		if (!w->matched)
			w->matched = gitignore_match(w->alone, path, is_dir,
						     NULL) == GITIGNORE_MATCH;
}

/* Few lines: `run` says it, too. */
static void warn_mistaken(struct look *l, const struct waiting *w)
{
	struct diags *d = l->c->diags;

	diag_warn(d, DIAG_MISTAKEN_PATTERN, w->pattern->from.at,
		  "'%s' matches nothing: %s", diag_quote(d, w->pattern->line),
		  w->mistaken.fact);
	diag_about(d, w->pattern->line);
	diag_help(d, "%s", diag_quote(d, w->mistaken.help));
}

static void warn_unmatched(struct look *l)
{
	vec_each(w, &l->waiting) {
		struct diags *d = l->c->diags;

		if (w->matched)
			continue;
		if (w->mistaken.fact) {
			warn_mistaken(l, w);
			continue;
		}
		if (!l->whole)
			continue;
		diag_warn(d, DIAG_UNMATCHED_PATTERN, w->pattern->from.at,
			  "'%s' matches nothing here that is not hidden anyway",
			  diag_quote(d, w->pattern->line));
		diag_about(d, w->pattern->line);
		diag_help(
			d,
			"a pattern with a '/' in its middle begins at the top of the workspace");
	}
}

/* --- files -----------------------------------------------------------------
 */

/* What a file begins with; empty when it cannot be read. */
static struct str first_bytes(struct look *l, int dir, const char *name)
{
	auto_fd int fd = openat(dir, name,
				O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct str none = {0};
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return none;
	n = read(fd, l->room, SECRET_FILES_READ);
	return n <= 0 ? none : (struct str){l->room, (size_t)n};
}

static void look_at_file(struct look *l, int dir, const char *name,
			 struct str path)
{
	const struct secret_file *row = secret_files_row(l->secrets, path);
	struct diags *d = l->c->diags;

	if (!row || !secret_files_holds(row, first_bytes(l, dir, name)))
		return;
	l->finds++;
	diag_warn(d, DIAG_VISIBLE_SECRET, (struct span){0},
		  "'%s' likely holds %s, and the agent can read it",
		  diag_quote(d, path), row->what);
	diag_about(d, path);
	diag_help(d, "hide it: '%s' under 'ignore'", diag_quote(d, path));
}

/* Git's objects: many, and none of their names says anything. */
static bool is_dull(struct str path)
{
	return str_is(path, ".git/objects") ||
	       str_ends(path, STR("/.git/objects"));
}

static bool is_folder(int dir, const struct dirent *e)
{
	struct stat st;

	if (e->d_type != DT_UNKNOWN)
		return e->d_type == DT_DIR;
	return fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISDIR(st.st_mode);
}

/* --- folders ---------------------------------------------------------------
 */

struct entry {
	const char *name;
	bool is_dir;
};

static int by_name(const void *va, const void *vb)
{
	const struct entry *a = va, *b = vb;

	return strcmp(a->name, b->name);
}

/* In the order of names: what is found first is the same on every machine. */
static struct entry *list_folder(struct look *l, DIR *dir, uint32_t *out_n)
{
	VEC(struct entry) found = {0};
	const struct dirent *e;

	while (!is_over(l) && (e = readdir(dir))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		l->entries++;
		*vec_push(l->c->a, &found) =
			(struct entry){arena_cstr(l->c->a, str_of(e->d_name)),
				       is_folder(dirfd(dir), e)};
	}
	vec_sort(&found, by_name);
	*out_n = found.n;
	return found.v;
}

/* Whether one of the patterns matches; it is counted for the last that does. */
static bool is_held(struct look *l, const struct gitignore *g,
		    struct workspace_held *counts, struct str path, bool is_dir)
{
	struct workspace_held *held;
	uint32_t index;

	if (gitignore_match(g, path, is_dir, &index) != GITIGNORE_MATCH)
		return false;
	if (!counts)
		return true;
	held = &counts[index];
	if (held->n < WORKSPACE_NAMED)
		held->named[held->n] =
			is_dir ? arena_fmt(l->c->a, "%.*s/", STR_ARG(path))
			       : path;
	held->n++;
	return true;
}

static void look_at_entry(struct look *l, int dir, const struct folder *in,
			  const struct entry *e)
{
	struct str path = arena_fmt(l->c->a, "%.*s%s%s", STR_ARG(in->path),
				    in->path.n ? "/" : "", e->name);
	bool readonly = in->readonly;

	try_waiting(l, path, e->is_dir);
	if (is_held(l, l->ignore, l->counts.ignore, path, e->is_dir))
		return;
	if (!readonly && l->counts.readonly)
		readonly = is_held(l, l->readonly, l->counts.readonly, path,
				   e->is_dir);
	if (!e->is_dir)
		look_at_file(l, dir, e->name, path);
	else if (!is_dull(path))
		*vec_push(l->c->a, &l->queue) = (struct folder){path, readonly};
}

static void look_into(struct look *l, struct folder folder)
{
	int fd = openat(l->root, folder.path.n ? folder.path.p : ".",
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct entry *entries;
	uint32_t n;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		l->whole = false;
		return;
	}
	entries = list_folder(l, dir, &n);
	for (uint32_t i = 0; i < n; i++)
		look_at_entry(l, dirfd(dir), &folder, &entries[i]);
	closedir(dir);
}

/* All of a list, and room to count what each of it decides. */
static struct gitignore *compile_list(struct look *l, const ir_patterns *list,
				      struct workspace_held **out)
{
	struct gitignore *g = gitignore_new(l->c->a);

	vec_each(i, list)
		(void)gitignore_add(g, i->line, NULL);
	/* Bound patterns are without fault; the indices are those of g. */
	if (gitignore_count(g) == list->n)
		*out = arena_array(l->c->a, (size_t)list->n + 1, sizeof(**out));
	return g;
}

bool workspace_lint(struct pass_ctx *c, const struct ir_policy *p,
		    const char *path, bool patterns,
		    struct workspace_counts *counts)
{
	struct look l = {.c = c,
			 .whole = true,
			 .patterns = patterns,
			 .path = str_of(path)};

	l.root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (l.root < 0)
		return false;
	l.end_ms = clock_ms() + WORKSPACE_TIME_MS;
	l.secrets = secret_files_new(c->a);
	l.room = arena_alloc(c->a, SECRET_FILES_READ);
	l.ignore = compile_list(&l, &p->ignore, &l.counts.ignore);
	l.readonly = compile_list(&l, &p->readonly, &l.counts.readonly);
	if (!counts)
		l.counts = (struct workspace_counts){0};
	wait_for(&l, &p->ignore);
	wait_for(&l, &p->readonly);
	*vec_push(c->a, &l.queue) = (struct folder){0};
	for (uint32_t i = 0; i < l.queue.n && !is_over(&l); i++)
		look_into(&l, l.queue.v[i]);
	warn_unmatched(&l);
	if (counts)
		*counts = l.counts;
	close(l.root);
	return l.whole;
}
