#include "runtime/launch/view/hello.h"

#include "compiler/base/buf.h"
#include "compiler/plan/view_hello.h"
#include "runtime/launch/mounts/journal.h"
#include "runtime/launch/mounts/place.h"

#include <errno.h>
#include <sys/stat.h>

struct writer {
	struct arena *a;
	const struct looked *l;
	hello_holds *holds;
	struct buf text;
	uint32_t paths, inodes, tracked;
};

static void add_path(struct writer *w, const char *word, struct str path)
{
	w->paths++;
	buf_addf(&w->text, "%s ", word);
	journal_add_path(&w->text, path);
	buf_addc(&w->text, '\n');
}

static void add_hold(struct writer *w, struct str path, enum hello_why why,
		     const struct gitfound_path *git)
{
	/* of too many none is written */
	if (path.n == 0 || w->paths > VIEW_HELLO_PATHS_MAX)
		return;
	vec_each(h, w->holds)
		if (str_eq(h->path, path))
			return;
	*vec_push(w->a, w->holds) = (struct hello_hold){path, why, git};
	add_path(w, VIEW_HELLO_HOLD, path);
}

/* What of it is not the worktree's to write. */
static void add_repository(struct writer *w, const struct gitlinked *g)
{
	gitlinked_lines lines = {0};

	buf_addf(&w->text, "%s %llu %llu\n", VIEW_HELLO_SHOWN,
		 (unsigned long long)g->dev, (unsigned long long)g->ino);
	if (g->kind == GITLINKED_PART) {
		buf_addf(&w->text, "%s ", VIEW_HELLO_PART);
		journal_add_path(&w->text, g->name);
		buf_addc(&w->text, '\n');
	}
	if (g->kind == GITLINKED_MODULE) {
		buf_addf(&w->text, "%s ", VIEW_HELLO_MODULE);
		journal_add_path(&w->text,
				 gitlinked_files(w->a, looked_inside(w->l)));
		buf_addc(&w->text, '\n');
	}
	gitlinked_patterns(w->a, g, &lines);
	vec_each(line, &lines) {
		buf_addf(&w->text, "%s ", VIEW_HELLO_LINKED);
		journal_add_path(&w->text, *line);
		buf_addc(&w->text, '\n');
	}
}

/* What git runs or reads: by its own name, and where links lead from that. */
static void add_git(struct writer *w)
{
	const struct looked *l = w->l;
	uint32_t first = l->plan.holds.n - l->git.paths.n;

	vec_each(p, &l->git.paths) {
		uint32_t i = first + (uint32_t)(p - l->git.paths.v);

		add_hold(w, p->path, HELLO_GIT, p);
		add_hold(w, l->places.v[i], HELLO_GIT, p);
	}
}

static bool is_named(const struct gitignore *g, const struct mask *m,
		     bool is_dir)
{
	return gitignore_match(g, m->path, is_dir, NULL) == GITIGNORE_MATCH;
}

/* Readonly under a name that says nothing of it. */
static void add_linked(struct writer *w)
{
	const struct looked *l = w->l;
	uint32_t own = l->plan.holds.n - l->git.paths.n;

	for (uint32_t i = 0; i < own; i++)
		if (!str_eq(l->places.v[i], l->plan.holds.v[i].path))
			add_hold(w, l->places.v[i], HELLO_LINK, NULL);
	vec_each(m, &l->found.masks) {
		bool is_dir = m->kind == MASK_READONLY_DIR;

		if ((is_dir || m->kind == MASK_READONLY_FILE) && !m->submount &&
		    !is_named(l->plan.readonly, m, is_dir))
			add_hold(w, m->path, HELLO_LINK, NULL);
	}
}

/* By device, number and time of birth: whatever it is called from now on. */
static void add_inode(struct writer *w, const struct mask *m)
{
	auto_fd int fd = -1;
	struct statx sx = {0};
	struct stat st;
	struct err ignored;

	/* gone since: then it is not what was found */
	if (place_open_below(w->l->at.root, m->path, O_PATH, &fd, &ignored) <
		    0 ||
	    fstat(fd, &st) < 0)
		return;
	if (statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &sx) < 0 ||
	    !(sx.stx_mask & STATX_BTIME))
		sx.stx_btime = (struct statx_timestamp){0};
	w->inodes++;
	buf_addf(&w->text, "%s %llu %llu %lld %u\n", VIEW_HELLO_INODE,
		 (unsigned long long)st.st_dev, (unsigned long long)st.st_ino,
		 (long long)sx.stx_btime.tv_sec,
		 (unsigned)sx.stx_btime.tv_nsec);
}

/* Hidden under a name that says nothing of it: a link leads there, or it is
 * another name of a hidden file. */
static void add_hidden(struct writer *w)
{
	const struct looked *l = w->l;

	vec_each(m, &l->found.masks) {
		bool is_dir = m->kind == MASK_IGNORE_DIR;

		if ((is_dir && m->by_link) ||
		    (m->kind == MASK_IGNORE_FILE &&
		     !is_named(l->plan.ignore, m, false)))
			add_inode(w, m);
	}
}

/* "WORD KIND PATH" and what the index says of it. */
static void add_index(struct writer *w, const char *word,
		      const struct gitindex_file *f)
{
	static const char *const kinds[] = VIEW_OUTSIDE_KINDS;

	buf_addf(&w->text, "%s %s ", word, kinds[f->kind]);
	journal_add_path(&w->text, f->path);
	for (size_t i = 0; i < ARRAY_LEN(f->numbers); i++) {
		buf_addc(&w->text, ' ');
		buf_addu(&w->text, f->numbers[i]);
	}
	if (f->text.n) {
		buf_addc(&w->text, ' ');
		journal_add_path(&w->text, f->text);
	}
	buf_addc(&w->text, '\n');
}

static bool add_known(struct writer *w, const struct gitindex_file *f)
{
	size_t longest =
		3 * (f->path.n + f->text.n) +
		ARRAY_LEN(f->numbers) * sizeof("4294967295") +
		sizeof(VIEW_HELLO_TRACKED " program  \n" VIEW_HELLO_GO "\n");

	if (w->tracked >= VIEW_HELLO_TRACKED_MAX ||
	    w->text.n + longest > VIEW_HELLO_BYTES_MAX)
		return false;
	/* a repository of its own: its files are another index's */
	if (f->kind == VIEW_OUTSIDE_FOLDER)
		return true;
	w->tracked++;
	add_index(w, VIEW_HELLO_TRACKED, f);
	return true;
}

/*
 * git compares what it knows of these with size and times, and has no need to
 * read them. One that is left out is shown as changed: no reason to refuse.
 */
static void add_tracked(struct writer *w, const struct committed *git)
{
	vec_each(f, &git->files)
		if (!add_known(w, f))
			return;
	vec_each(link, &git->links)
		if (!add_known(w, link))
			return;
}

/* All of them: one that is left out would be committed as removed. */
static void add_outside(struct writer *w, const struct gitoutside *o)
{
	vec_each(f, &o->files)
		add_index(w, VIEW_HELLO_OUTSIDE, f);
	for (uint32_t i = 0; i < o->texts.n && i < VIEW_HELLO_TEXTS_MAX; i++) {
		buf_adds(&w->text, VIEW_HELLO_TEXT " ");
		journal_add_path(&w->text, o->texts.v[i].path);
		buf_addc(&w->text, ' ');
		journal_add_path(&w->text, o->texts.v[i].text);
		buf_addc(&w->text, '\n');
	}
}

int hello_write(struct arena *a, const struct looked *l,
		const struct committed *git, const struct hello_owner *owner,
		hello_holds *out_holds, struct str *out, struct err *err)
{
	hello_holds holds = {0};
	struct writer w = {.a = a, .l = l, .holds = &holds};
	struct str state = looked_state_inside(&l->at);
	struct stat st;

	if (fstat(l->at.root, &st) < 0)
		return err_errno(err, "the workspace");
	buf_init(&w.text, a);
	buf_addf(&w.text, "%s\n%s %u %u\n%s %llu %llu\n", VIEW_HELLO_HEAD,
		 VIEW_HELLO_OWNER, (unsigned)owner->uid, (unsigned)owner->gid,
		 VIEW_HELLO_ROOT, (unsigned long long)st.st_dev,
		 (unsigned long long)st.st_ino);
	buf_addf(&w.text, "%s ", VIEW_HELLO_AT);
	journal_add_path(&w.text, l->at.root_path);
	buf_addc(&w.text, '\n');
	if (l->at.readonly)
		buf_addf(&w.text, "%s\n", VIEW_HELLO_READONLY);
	if (l->at.linked)
		add_repository(&w, l->at.linked);
	if (git->filtered)
		buf_addf(&w.text, "%s\n", VIEW_HELLO_FILTERED);
	add_git(&w);
	add_linked(&w);
	if (state.n)
		add_path(&w, VIEW_HELLO_HIDE, state);
	add_hidden(&w);
	add_tracked(&w, git);
	if (l->at.linked && l->at.linked->kind == GITLINKED_PART)
		add_outside(&w, l->at.outside);
	buf_addf(&w.text, "%s\n", VIEW_HELLO_GO);
	if (w.paths > VIEW_HELLO_PATHS_MAX ||
	    w.inodes > VIEW_HELLO_INODES_MAX || w.text.n > VIEW_HELLO_BYTES_MAX)
		return err_set(
			err, -E2BIG,
			"%u paths to hold and %u files that are hidden under other names, too: at most %u and %u are possible",
			w.paths, w.inodes, VIEW_HELLO_PATHS_MAX,
			VIEW_HELLO_INODES_MAX);
	*out_holds = holds;
	*out = buf_str(&w.text);
	return 0;
}

int hello_write_home(struct arena *a, const char *home,
		     const struct hello_owner *owner, const char *program,
		     struct str *out, struct err *err)
{
	struct buf text;
	struct stat st;

	if (stat(home, &st) < 0)
		return err_errno(err, home);
	buf_init(&text, a);
	buf_addf(&text, "%s\n%s %u %u\n%s %llu %llu\n", VIEW_HELLO_HEAD,
		 VIEW_HELLO_OWNER, (unsigned)owner->uid, (unsigned)owner->gid,
		 VIEW_HELLO_ROOT, (unsigned long long)st.st_dev,
		 (unsigned long long)st.st_ino);
	buf_addf(&text, "%s ", VIEW_HELLO_AT);
	journal_add_path(&text, str_of(home));
	buf_addc(&text, '\n');
	if (program) {
		buf_addf(&text, "%s ", VIEW_HELLO_PROGRAM);
		journal_add_path(&text, str_of(program));
		buf_addc(&text, '\n');
	}
	buf_addf(&text, "%s\n", VIEW_HELLO_GO);
	*out = buf_str(&text);
	return 0;
}
