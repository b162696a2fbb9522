/*
 * Names that come, go and move aside. Nothing here changes the disk.
 */
#include "runtime/view/aside/aside.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- making --------------------------------------------------------------- */

static struct copy *make_entry(struct view *v, const struct place *at)
{
	char path[VIEW_PATH_MAX];

	if (node_path(at->dir, at->name, path, sizeof(path)) == 0)
		return NULL;
	return copies_make(&v->copies, path);
}

static void orphan_name(struct view *v, const struct place *at)
{
	struct node *n = node_find(&v->nodes, at->dir, at->name);

	if (n)
		node_orphan(&v->nodes, n);
}

static struct copy_data *new_data(struct view *v, mode_t mode, const char *text)
{
	size_t n = text ? strlen(text) : 0;
	int fd = memfd_create("aside", MFD_CLOEXEC);
	struct copy_data *d;

	if (fd < 0)
		return NULL;
	d = copies_data(&v->copies, fd);
	if (d && copies_grow(&v->copies, d, n) &&
	    fchmod(fd, mode & 07777) == 0 && pwrite(fd, text, n, 0) >= 0)
		return d;
	if (d)
		copies_release(&v->copies, d);
	return NULL;
}

/* In the place of whatever has the name. */
static int put_copy(struct view *v, const struct place *at, enum copy_kind kind,
		    mode_t mode, const char *text)
{
	struct copy_data *d = new_data(v, mode, text);
	struct copy *c = d ? make_entry(v, at) : NULL;

	if (!c) {
		if (d)
			copies_release(&v->copies, d);
		return ENOSPC;
	}
	copies_set(&v->copies, c, kind, d);
	orphan_name(v, at);
	return 0;
}

static int make_copy(struct view *v, const struct place *at,
		     enum copy_kind kind, mode_t mode, const char *text,
		     struct fuse_entry_param *e)
{
	struct copy *c;
	struct statx x;
	int rc = view_find(v, at->dir, at->name, &x, &c);

	if (rc != ENOENT)
		return rc ? rc : EEXIST;
	rc = put_copy(v, at, kind, mode, text);
	return rc ? rc : view_enter(v, at->dir, at->name, e);
}

int aside_mkdir(struct view *v, struct node *dir, const char *name, mode_t mode,
		struct fuse_entry_param *e)
{
	return make_copy(v, &(struct place){dir, name}, COPY_FOLDER, mode, NULL,
			 e);
}

int aside_symlink(struct view *v, struct node *dir, const char *name,
		  const char *text, struct fuse_entry_param *e)
{
	return make_copy(v, &(struct place){dir, name}, COPY_LINK, 0777, text,
			 e);
}

int aside_create(struct view *v, struct node *dir, const char *name,
		 mode_t mode, struct fuse_file_info *fi,
		 struct fuse_entry_param *e)
{
	int rc = make_copy(v, &(struct place){dir, name}, COPY_FILE, mode, NULL,
			   e);

	/* It came since the kernel looked: let it look once more. */
	if (rc == EEXIST && !(fi->flags & O_EXCL))
		return ESTALE;
	if (rc)
		return rc;
	rc = aside_open(v, view_node(v, e->ino), fi);
	if (rc)
		view_drop(v, view_node(v, e->ino), 1);
	return rc;
}

int aside_replace(struct view *v, struct node *n)
{
	int rc = put_copy(v, &(struct place){n->parent, n->name}, COPY_FILE,
			  0644, NULL);

	return rc ? rc : ESTALE;
}

bool aside_seed(struct view *v, const char *path, struct str text, bool config)
{
	struct copy *c = copies_make(&v->copies, path);
	struct copy_data *d;

	if (!c || memchr(text.p, '\0', text.n))
		return false;
	d = new_data(v, 0644, text.p);
	if (!d)
		return false;
	if (!copies_set(&v->copies, c, COPY_FILE, d))
		return false;
	c->config = config;
	c->given = !config;
	return true;
}

/* --- removing ------------------------------------------------------------- */

/* Does the disk have something that would be seen again? */
static bool shows_through(const struct place *at)
{
	struct statx x;

	return !at->dir->aside && at->dir->fd >= 0 &&
	       view_look(at->dir->fd, at->name, &x) != ENOENT;
}

/* Of the name of a hidden file, a copy, or config.lock; for good. */
static int leave_name(struct view *v, const struct place *at, bool hidden)
{
	bool gone = hidden && shows_through(at);
	struct copy *c =
		gone ? make_entry(v, at) : aside_at(v, at->dir, at->name);

	if (gone && !c)
		return ENOSPC;
	if (c &&
	    !copies_set(&v->copies, c, gone ? COPY_GONE : COPY_NONE, NULL)) {
		copies_settle(&v->copies, c);
		return ENOSPC;
	}
	return 0;
}

static bool is_hidden_name(struct view *v, const struct place *at, bool is_dir)
{
	return view_judge_new(v, at->dir, at->name, is_dir).state ==
	       JUDGE_HIDDEN;
}

/* Of a folder that is hidden, or aside: is anything seen in it? */
static bool is_empty(struct view *v, const struct place *at)
{
	struct node *n = node_find(&v->nodes, at->dir, at->name);
	struct copy *top = aside_at(v, at->dir, at->name), *found;
	struct statx x;

	for (struct copy *c = top ? top->first : NULL; c; c = c->after)
		if (copy_is_made(c) ||
		    (n && view_find(v, n, c->name, &x, &found) == 0))
			return false;
	return true;
}

int aside_remove(struct view *v, struct node *dir, const char *name,
		 bool is_dir)
{
	struct place at = {dir, name};
	struct copy *c;
	struct statx x;
	int rc = view_find(v, dir, name, &x, &c);

	if (rc)
		return rc;
	if (is_dir && !S_ISDIR(x.stx_mode))
		return ENOTDIR;
	if (!is_dir && S_ISDIR(x.stx_mode))
		return EISDIR;
	if (is_dir && !is_empty(v, &at))
		return ENOTEMPTY;
	rc = leave_name(v, &at, is_hidden_name(v, &at, is_dir));
	if (rc == 0)
		orphan_name(v, &at);
	return rc;
}

/* --- renaming ------------------------------------------------------------- */

/* A file from config.lock to config, beside it. */
static bool is_config(struct view *v, const struct place *from,
		      const struct place *to)
{
	const struct copy *c = aside_at(v, from->dir, from->name);
	size_t n = strlen(to->name);

	return c && c->kind == COPY_FILE && from->dir == to->dir &&
	       strncmp(from->name, to->name, n) == 0 &&
	       strcmp(from->name + n, ".lock") == 0 &&
	       aside_may_create(v, from->dir, from->name) &&
	       view_holds(v, to->dir, to->name);
}

/* May what x tells of take the place of what is there? */
static int may_replace(struct view *v, const struct place *to,
		       const struct statx *x, unsigned flags)
{
	struct copy *c;
	struct statx there;
	int rc = view_find(v, to->dir, to->name, &there, &c);

	if (rc)
		return rc == ENOENT ? 0 : rc;
	if (flags & RENAME_NOREPLACE)
		return EEXIST;
	if (S_ISDIR(there.stx_mode) != S_ISDIR(x->stx_mode))
		return S_ISDIR(there.stx_mode) ? EISDIR : ENOTDIR;
	return S_ISDIR(x->stx_mode) && !is_empty(v, to) ? ENOTEMPTY : 0;
}

/* As it is shown: of what git has, as the index says, else empty. */
static struct statx shown_as(const struct copy *was, const struct statx *x)
{
	const struct statx *index =
		was && was->kind == COPY_TRACKED ? was->data->husk : NULL;
	struct statx out = *x;

	out.stx_size = index ? index->stx_size : 0;
	out.stx_blocks = 0;
	out.stx_mode = index ? (uint16_t)((x->stx_mode & S_IFMT) |
					  (index->stx_mode & 0777))
			     : S_IFREG | 0444;
	if (index) {
		out.stx_mtime = index->stx_mtime;
		out.stx_ctime = index->stx_ctime;
	}
	return out;
}

/* The disk's hidden file under another name, without content. */
static int put_husk(struct view *v, const struct place *from,
		    const struct place *to, const struct statx *x)
{
	struct statx shown = shown_as(aside_at(v, from->dir, from->name), x);
	struct copy_data *d = copies_data(&v->copies, -1);
	struct copy *c;

	if (!d)
		return ENOSPC;
	d->husk = malloc(sizeof(*d->husk));
	c = d->husk ? make_entry(v, to) : NULL;
	if (!c) {
		copies_release(&v->copies, d);
		return ENOSPC;
	}
	*d->husk = shown;
	copies_set(&v->copies, c, COPY_HUSK, d);
	return 0;
}

static int move_name(struct view *v, const struct place *from,
		     const struct place *to, const struct statx *x)
{
	bool is_dir = S_ISDIR(x->stx_mode);
	bool hidden = is_hidden_name(v, from, is_dir);
	bool config = is_config(v, from, to);
	struct copy *c = aside_at(v, from->dir, from->name), *end;
	int rc;

	/* The kernel may know two files of the same name. */
	if (from->dir == to->dir && strcmp(from->name, to->name) == 0)
		return 0;
	if (copies_full(&v->copies))
		return ENOSPC;
	if (!copy_is_made(c)) {
		rc = put_husk(v, from, to, x);
		return rc ? rc : leave_name(v, from, hidden);
	}
	end = make_entry(v, to);
	if (!end)
		return ENOSPC;
	copies_move(&v->copies, c, end);
	c->config = config;
	return leave_name(v, from, hidden);
}

static int may_move(struct view *v, const struct place *from,
		    const struct place *to, const struct statx *x,
		    unsigned flags)
{
	struct copy *c = aside_at(v, from->dir, from->name);

	/* What the disk has is not read, and folders of it do not move. */
	if (flags & RENAME_EXCHANGE ||
	    (!copy_is_made(c) && !S_ISREG(x->stx_mode)))
		return EXDEV;
	return may_replace(v, to, x, flags);
}

int aside_rename(struct view *v, const struct place *from,
		 const struct place *to, unsigned flags, bool *out_done)
{
	struct copy *c, *end;
	struct statx x;
	int rc = view_find(v, from->dir, from->name, &x, &c);
	bool is_dir = rc == 0 && S_ISDIR(x.stx_mode), leaves, comes;

	if (rc == 0)
		rc = view_fresh(v, to->dir);
	*out_done = rc != 0;
	if (rc)
		return rc;
	end = aside_at(v, to->dir, to->name);
	leaves = aside_may_remove(v, from->dir, from->name, is_dir);
	comes = (copy_is_made(end) && !end->config && !aside_is_index(end)) ||
		aside_hides(v, to->dir, to->name, is_dir) ||
		is_config(v, from, to);
	/* Between both there is no way, and no refusal: programs copy. */
	*out_done = (leaves && comes) || (leaves && copy_is_made(c)) ||
		    (comes && view_judge(v, from->dir, from->name, &x).state ==
				      JUDGE_OPEN);
	if (!*out_done)
		return 0;
	rc = leaves && comes ? may_move(v, from, to, &x, flags) : EXDEV;
	return rc ? rc : move_name(v, from, to, &x);
}

/* --- what the disk does --------------------------------------------------- */

int aside_blocks(const struct view *v, const struct place *at)
{
	const struct copy *top = aside_at(v, at->dir, at->name);

	for (struct copy *c = top ? top->first : NULL; c; c = c->after)
		if (copy_is_made(c))
			return ENOTEMPTY;
	return 0;
}

void aside_removed(struct view *v, const struct place *at)
{
	struct copy *c = aside_at(v, at->dir, at->name);

	if (c)
		copies_set(&v->copies, c, COPY_NONE, NULL);
}

void aside_renamed(struct view *v, const struct place *from,
		   const struct place *to, unsigned flags)
{
	struct copy *a = aside_at(v, from->dir, from->name);
	struct copy *b = aside_at(v, to->dir, to->name);

	if (a == b)
		return;
	if (flags & RENAME_EXCHANGE) {
		a = a || !b ? a : make_entry(v, from);
		b = b || !a ? b : make_entry(v, to);
		if (a && b)
			copies_exchange(&v->copies, a, b);
		if (a)
			copies_settle(&v->copies, a);
		if (b)
			copies_settle(&v->copies, b);
		return;
	}
	/* What was known of the folder that was there is of another. */
	if (b)
		copies_set(&v->copies, b, COPY_NONE, NULL);
	b = a ? make_entry(v, to) : NULL;
	if (b)
		copies_move(&v->copies, a, b);
	else if (a)
		copies_set(&v->copies, a, COPY_NONE, NULL);
}
