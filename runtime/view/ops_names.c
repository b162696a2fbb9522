/*
 * Names come and go: lookup, and everything that makes, removes or renames.
 */
#include "runtime/view/aside/aside.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* --- asking --------------------------------------------------------------- */

/* The kernel sends nothing else; nothing else goes to the disk. */
static bool is_name(const char *name)
{
	return name[0] && !strchr(name, '/') && strcmp(name, ".") != 0 &&
	       strcmp(name, "..") != 0;
}

static void reply_entry(fuse_req_t req, int rc, struct fuse_entry_param *e)
{
	struct view *v = view_of(req);

	if (rc) {
		fuse_reply_err(req, rc);
		return;
	}
	if (fuse_reply_entry(req, e) == 0 || e->ino == 0)
		return;
	/* Nobody waits for it any more, and nobody will forget it. */
	pthread_mutex_lock(&v->lock);
	view_drop(v, view_node(v, e->ino), 1);
	pthread_mutex_unlock(&v->lock);
}

static void on_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct view *v = view_of(req);
	struct fuse_entry_param e = {0};
	int rc = EINVAL;

	if (is_name(name)) {
		pthread_mutex_lock(&v->lock);
		rc = view_enter(v, view_node(v, parent), name, &e);
		pthread_mutex_unlock(&v->lock);
	}
	if (rc == ENOENT) {
		e = (struct fuse_entry_param){.entry_timeout = VIEW_TIMEOUT_S};
		rc = 0;
	}
	reply_entry(req, rc, &e);
}

static void on_forget(fuse_req_t req, fuse_ino_t ino, uint64_t lookups)
{
	struct view *v = view_of(req);

	pthread_mutex_lock(&v->lock);
	view_drop(v, view_node(v, ino), lookups);
	pthread_mutex_unlock(&v->lock);
	fuse_reply_none(req);
}

static void on_forget_multi(fuse_req_t req, size_t n,
			    struct fuse_forget_data *list)
{
	struct view *v = view_of(req);

	pthread_mutex_lock(&v->lock);
	for (size_t i = 0; i < n; i++)
		view_drop(v, view_node(v, list[i].ino), list[i].nlookup);
	pthread_mutex_unlock(&v->lock);
	fuse_reply_none(req);
}

/* --- may it be changed? --------------------------------------------------- */

/* A folder in which names may be made: 0, or what to answer. */
static int may_enter(struct view *v, struct node *dir, const char *name)
{
	struct judge_word word;
	int rc;

	if (!is_name(name))
		return EINVAL;
	rc = view_fresh(v, dir);
	if (rc)
		return rc;
	word = view_judge_new(v, dir, name, false);
	if (dir->word.state == JUDGE_HIDDEN)
		word = dir->word;
	else if (word.section != JUDGE_BY_OUTSIDE)
		return 0;
	return view_refuse(v, RECORD_WRITE, word, dir, name, EROFS);
}

/* A name that the policy spells out the beginning of is a folder's, or no
 * one's: a link there would lead past the patterns. */
static int may_spell(struct view *v, struct node *dir, const char *name)
{
	struct judge_word word;

	if (!view_spells(v, dir, name, &word))
		return 0;
	return view_refuse(v, RECORD_WRITE, word, dir, name, EBUSY);
}

static int may_make(struct view *v, struct node *dir, const char *name,
		    bool is_dir)
{
	struct judge_word word;
	int rc = may_enter(v, dir, name);

	if (rc)
		return rc;
	word = view_judge_new(v, dir, name, is_dir);
	rc = view_guard(v, RECORD_WRITE, &word, dir, name);
	if (rc)
		return rc;
	if (word.state != JUDGE_OPEN)
		return view_refuse(v, RECORD_WRITE, word, dir, name, EROFS);
	return is_dir ? 0 : may_spell(v, dir, name);
}

/* What is there may go, or be replaced; *x tells of it. */
static int may_remove(struct view *v, struct node *dir, const char *name,
		      struct statx *x)
{
	struct judge_word word;
	int rc = may_enter(v, dir, name);

	if (rc == 0)
		rc = view_look(dir->fd, name, x);
	if (rc)
		return rc;
	word = view_judge(v, dir, name, x);
	rc = view_guard(v, RECORD_WRITE, &word, dir, name);
	if (rc || word.state == JUDGE_OPEN)
		return rc;
	return view_refuse(v, RECORD_WRITE, word, dir, name, EROFS);
}

/* --- making --------------------------------------------------------------- */

static int made_entry(struct view *v, struct node *dir, const char *name,
		      int failed, struct fuse_entry_param *e)
{
	return failed < 0 ? errno : view_enter(v, dir, name, e);
}

static int make_folder(struct view *v, struct node *dir, const char *name,
		       mode_t mode, struct fuse_entry_param *e)
{
	int rc = may_make(v, dir, name, true);

	if (rc)
		return rc;
	if (mkdirat(dir->fd, name, mode) < 0)
		return errno;
	/* What is known there is of one that the host has removed. */
	aside_removed(v, &(struct place){dir, name});
	view_note_made(v, dir, name);
	return view_enter(v, dir, name, e);
}

static void on_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name,
		     mode_t mode)
{
	struct view *v = view_of(req);
	struct node *dir = view_node(v, parent);
	struct fuse_entry_param e;
	int rc;

	pthread_mutex_lock(&v->lock);
	if (is_name(name) && aside_hides(v, dir, name, true))
		rc = aside_mkdir(v, dir, name, mode, &e);
	else
		rc = make_folder(v, dir, name, mode, &e);
	pthread_mutex_unlock(&v->lock);
	reply_entry(req, rc, &e);
}

static void on_mknod(fuse_req_t req, fuse_ino_t parent, const char *name,
		     mode_t mode, dev_t dev)
{
	struct view *v = view_of(req);
	struct node *dir = view_node(v, parent);
	struct fuse_entry_param e;
	int rc;

	(void)dev; /* no devices: only they have a number */
	if (S_ISCHR(mode) || S_ISBLK(mode)) {
		fuse_reply_err(req, EPERM);
		return;
	}
	pthread_mutex_lock(&v->lock);
	rc = may_make(v, dir, name, false);
	if (rc == 0)
		rc = made_entry(v, dir, name,
				mknodat(dir->fd, name, view_mode(mode), 0), &e);
	pthread_mutex_unlock(&v->lock);
	reply_entry(req, rc, &e);
}

static void on_symlink(fuse_req_t req, const char *text, fuse_ino_t parent,
		       const char *name)
{
	struct view *v = view_of(req);
	struct node *dir = view_node(v, parent);
	struct fuse_entry_param e;
	int rc;

	pthread_mutex_lock(&v->lock);
	if (is_name(name) && aside_hides(v, dir, name, false)) {
		rc = aside_symlink(v, dir, name, text, &e);
	} else {
		rc = may_make(v, dir, name, false);
		if (rc == 0)
			rc = made_entry(v, dir, name,
					symlinkat(text, dir->fd, name), &e);
	}
	pthread_mutex_unlock(&v->lock);
	reply_entry(req, rc, &e);
}

/* What the node is, and not what has its name now, gets the second name. */
static int link_node(struct view *v, struct node *n, struct node *dir,
		     const char *name)
{
	char text[VIEW_FD_TEXT_MAX];
	struct judge_word word;
	struct statx x;
	int fd, rc = n->aside ? EXDEV : view_grab(v, n, &fd, &x);

	if (rc)
		return rc;
	word = n->word;
	rc = view_guard(v, RECORD_WRITE, &word, n, NULL);
	if (rc == 0 && word.state != JUDGE_OPEN)
		rc = view_refuse_node(v, RECORD_WRITE, n);
	else if (rc == 0 && linkat(v->proc, view_fd_text(fd, text), dir->fd,
				   name, AT_SYMLINK_FOLLOW) < 0)
		rc = errno;
	view_release_fd(n, fd);
	return rc;
}

static void on_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t parent,
		    const char *name)
{
	struct view *v = view_of(req);
	struct node *dir = view_node(v, parent);
	struct fuse_entry_param e;
	int rc;

	pthread_mutex_lock(&v->lock);
	rc = may_make(v, dir, name, false);
	if (rc == 0)
		rc = link_node(v, view_node(v, ino), dir, name);
	if (rc == 0)
		rc = view_enter(v, dir, name, &e);
	/* It has one more link by now. */
	if (rc == 0)
		fuse_lowlevel_notify_inval_inode(v->session, ino, -1, 0);
	pthread_mutex_unlock(&v->lock);
	reply_entry(req, rc, &e);
}

/* --- removing ------------------------------------------------------------- */

static int remove_on_disk(struct view *v, struct node *dir, const char *name,
			  int flags)
{
	struct place at = {dir, name};
	struct statx x;
	struct node *n;
	int rc = may_remove(v, dir, name, &x);

	if (rc == 0)
		rc = aside_blocks(v, &at);
	if (rc == 0 && unlinkat(dir->fd, name, flags) < 0)
		rc = errno;
	if (rc)
		return rc;
	aside_removed(v, &at);
	n = node_find(&v->nodes, dir, name);
	if (n)
		node_orphan(&v->nodes, n);
	return 0;
}

static void remove_name(fuse_req_t req, fuse_ino_t parent, const char *name,
			int flags)
{
	struct view *v = view_of(req);
	struct node *dir = view_node(v, parent);
	bool is_dir = flags & AT_REMOVEDIR;
	int rc;

	pthread_mutex_lock(&v->lock);
	if (is_name(name) && aside_may_remove(v, dir, name, is_dir))
		rc = aside_remove(v, dir, name, is_dir);
	else
		rc = remove_on_disk(v, dir, name, flags);
	pthread_mutex_unlock(&v->lock);
	fuse_reply_err(req, rc);
}

static void on_unlink(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	remove_name(req, parent, name, 0);
}

static void on_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	remove_name(req, parent, name, AT_REMOVEDIR);
}

/* --- renaming ------------------------------------------------------------- */

/* May what x tells of have this name? */
static int may_become(struct view *v, const struct place *from,
		      const struct place *to, const struct statx *x)
{
	const struct judge_set *was, *will;
	struct judge_word word = {0};
	int rc = may_make(v, to->dir, to->name, S_ISDIR(x->stx_mode));

	if (rc || !S_ISDIR(x->stx_mode))
		return rc;
	was = judge_below(v->judge, from->dir->below, str_of(from->name));
	will = judge_below(v->judge, to->dir->below, str_of(to->name));
	if (!was || !will)
		return EBUSY;
	if (!judge_differs(v->judge, was, will, &word))
		return 0;
	return view_refuse(v, RECORD_WRITE, word, from->dir, from->name, EBUSY);
}

static int may_rename(struct view *v, const struct place *from,
		      const struct place *to, unsigned flags)
{
	struct statx x, there;
	int rc = may_remove(v, from->dir, from->name, &x);

	if (rc == 0)
		rc = may_become(v, from, to, &x);
	if (rc)
		return rc;
	rc = may_remove(v, to->dir, to->name, &there);
	if (flags & RENAME_EXCHANGE)
		return rc ? rc : may_become(v, to, from, &there);
	return rc == ENOENT ? 0 : rc;
}

static void follow_rename(struct view *v, const struct place *from,
			  const struct place *to, unsigned flags)
{
	struct node *a = node_find(&v->nodes, from->dir, from->name);
	struct node *b = node_find(&v->nodes, to->dir, to->name);

	/* What lies below a folder that moved is judged again. */
	v->nodes.turn++;
	if (flags & RENAME_EXCHANGE) {
		node_exchange(&v->nodes, a, b);
		return;
	}
	if (b && b != a)
		node_orphan(&v->nodes, b);
	if (a && !node_move(&v->nodes, a, to->dir, to->name))
		node_settle(&v->nodes, a);
}

static int rename_on_disk(struct view *v, const struct place *from,
			  const struct place *to, unsigned flags)
{
	int rc = may_rename(v, from, to, flags);

	if (rc == 0 && !(flags & RENAME_EXCHANGE))
		rc = aside_blocks(v, to);
	if (rc == 0 && syscall(SYS_renameat2, from->dir->fd, from->name,
			       to->dir->fd, to->name, flags) < 0)
		rc = errno;
	if (rc == 0)
		aside_renamed(v, from, to, flags);
	return rc;
}

static void on_rename(fuse_req_t req, fuse_ino_t parent, const char *name,
		      fuse_ino_t newparent, const char *newname, unsigned flags)
{
	struct view *v = view_of(req);
	struct place from = {view_node(v, parent), name};
	struct place to = {view_node(v, newparent), newname};
	bool done = false;
	int rc;

	if (flags & ~(RENAME_EXCHANGE | RENAME_NOREPLACE) || !is_name(name) ||
	    !is_name(newname)) {
		fuse_reply_err(req, EINVAL);
		return;
	}
	pthread_mutex_lock(&v->lock);
	rc = aside_rename(v, &from, &to, flags, &done);
	if (!done)
		rc = rename_on_disk(v, &from, &to, flags);
	if (rc == 0)
		follow_rename(v, &from, &to, flags);
	pthread_mutex_unlock(&v->lock);
	fuse_reply_err(req, rc);
}

/* --- a new file, open ----------------------------------------------------- */

/* Without O_TRUNC: what has the name by now may be another file. */
static int create_file(struct view *v, struct node *dir, const char *name,
		       mode_t mode, int flags, int *out_fd)
{
	struct hidden_file f;
	struct statx x;
	int fd = openat(dir->fd, name,
			view_open_flags(flags) | O_CREAT | (flags & O_EXCL),
			view_mode(mode)),
	    rc;

	if (fd < 0)
		return errno == ELOOP ? ESTALE : errno;
	rc = view_look(fd, "", &x);
	f = view_identity(&x);
	if (rc == 0 && (!S_ISREG(x.stx_mode) || hidden_has(&v->hidden, &f)))
		rc = ESTALE;
	if (rc == 0 && flags & O_TRUNC && x.stx_size && ftruncate(fd, 0) < 0)
		rc = errno;
	if (rc)
		close(fd);
	else
		*out_fd = fd;
	return rc;
}

static int create_on_disk(struct view *v, struct node *dir, const char *name,
			  mode_t mode, struct fuse_file_info *fi,
			  struct fuse_entry_param *e)
{
	int fd = -1, rc = may_make(v, dir, name, false);

	if (rc == 0)
		rc = create_file(v, dir, name, mode, fi->flags, &fd);
	if (rc == 0)
		rc = view_enter(v, dir, name, e);
	if (rc == 0) {
		aside_note(v, dir, name, fd);
		rc = view_opened(view_node(v, e->ino), fd, fi);
		if (rc)
			view_drop(v, view_node(v, e->ino), 1);
	}
	if (rc)
		fd_close(&fd);
	return rc;
}

static void on_create(fuse_req_t req, fuse_ino_t parent, const char *name,
		      mode_t mode, struct fuse_file_info *fi)
{
	struct view *v = view_of(req);
	struct node *dir = view_node(v, parent);
	struct fuse_entry_param e;
	int rc;

	pthread_mutex_lock(&v->lock);
	if (is_name(name) && aside_may_create(v, dir, name))
		rc = aside_create(v, dir, name, mode, fi, &e);
	else
		rc = create_on_disk(v, dir, name, mode, fi, &e);
	pthread_mutex_unlock(&v->lock);
	if (rc)
		fuse_reply_err(req, rc);
	else if (fuse_reply_create(req, &e, fi) < 0)
		view_abandon(v, e.ino, fi);
}

/* --- a new file, open, and without a name --------------------------------- */

/* No name of a file's, and so nobody's: what it gets a name by is judged. */
#define NO_NAME "/"

static int make_unnamed(struct view *v, struct node *dir, mode_t mode,
			int flags, int *out_fd, struct node **out,
			struct statx *x)
{
	struct node *n;
	int rc = view_fresh(v, dir);

	if (rc == 0 && dir->word.state != JUDGE_OPEN)
		rc = view_refuse_node(v, RECORD_WRITE, dir);
	if (rc)
		return rc;
	*out_fd = openat(dir->fd, ".",
			 view_open_flags(flags) | O_TMPFILE | (flags & O_EXCL),
			 view_mode(mode));
	if (*out_fd < 0)
		return errno;
	rc = view_look(*out_fd, "", x);
	if (rc)
		return rc;
	n = node_new(&v->nodes, dir, NO_NAME);
	if (!n)
		return ENOMEM;
	node_orphan(&v->nodes, n);
	n->dev = makedev(x->stx_dev_major, x->stx_dev_minor);
	n->ino = x->stx_ino;
	n->type = S_IFREG;
	n->lookups = 1;
	view_saw(n, x);
	*out = n;
	return 0;
}

int view_open_unnamed(struct view *v, struct node *dir, mode_t mode,
		      struct fuse_file_info *fi, struct node **out,
		      struct statx *x)
{
	int fd = -1, rc = make_unnamed(v, dir, mode, fi->flags, &fd, out, x);

	if (rc) {
		fd_close(&fd);
		return rc;
	}
	rc = view_opened(*out, fd, fi);
	if (rc) {
		fd_close(&fd);
		view_drop(v, *out, 1);
	}
	return rc;
}

void ops_names(struct fuse_lowlevel_ops *ops)
{
	ops->lookup = on_lookup;
	ops->forget = on_forget;
	ops->forget_multi = on_forget_multi;
	ops->mkdir = on_mkdir;
	ops->mknod = on_mknod;
	ops->symlink = on_symlink;
	ops->link = on_link;
	ops->unlink = on_unlink;
	ops->rmdir = on_rmdir;
	ops->rename = on_rename;
	ops->create = on_create;
}
