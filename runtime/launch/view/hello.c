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
	uint32_t paths, inodes;
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

int hello_write(struct arena *a, const struct looked *l,
		const struct hello_owner *owner, hello_holds *out_holds,
		struct str *out, struct err *err)
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
	add_git(&w);
	add_linked(&w);
	if (state.n)
		add_path(&w, VIEW_HELLO_HIDE, state);
	add_hidden(&w);
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
