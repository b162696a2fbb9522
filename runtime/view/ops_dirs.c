/*
 * Listings of folders. One that is hidden is empty; what is hidden in another
 * is there, and nothing is said of it but that it is a folder or a file.
 */
#include "runtime/view/view.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static struct handle *handle_of(const struct fuse_file_info *fi)
{
	return (struct handle *)(uintptr_t)fi->fh;
}

static int open_listing(struct view *v, struct node *n,
			struct fuse_file_info *fi)
{
	int fd = -1, rc = view_current(v, n);
	DIR *dir;

	if (rc)
		return rc;
	if (n->word.state == JUDGE_HIDDEN) {
		view_refuse_node(v, RECORD_READ, n);
		return view_opened(n, -1, fi);
	}
	fd = openat(n->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	rc = dir ? view_opened(n, fd, fi) : errno;
	if (rc == 0)
		handle_of(fi)->dir = dir;
	else if (dir)
		closedir(dir);
	else
		fd_close(&fd);
	return rc;
}

static void on_opendir(fuse_req_t req, fuse_ino_t ino,
		       struct fuse_file_info *fi)
{
	struct view *v = view_of(req);
	int rc;

	pthread_mutex_lock(&v->lock);
	rc = open_listing(v, view_node(v, ino), fi);
	pthread_mutex_unlock(&v->lock);
	if (rc)
		fuse_reply_err(req, rc);
	else if (fuse_reply_open(req, fi) < 0)
		view_closed(v, fi);
}

static void on_releasedir(fuse_req_t req, fuse_ino_t ino,
			  struct fuse_file_info *fi)
{
	(void)ino;
	view_closed(view_of(req), fi);
	fuse_reply_err(req, 0);
}

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* What a listing says without having looked. */
static void tell_type(struct view *v, struct node *dir,
		      const struct dirent *ent, struct stat *out)
{
	mode_t type = DTTOIF(ent->d_type);
	struct statx x;

	if (!is_dots(ent->d_name)) {
		if (ent->d_type == DT_UNKNOWN &&
		    view_look(dir->fd, ent->d_name, &x) == 0)
			type = x.stx_mode & S_IFMT;
		if (type != S_IFDIR && type != S_IFREG &&
		    view_judge_new(v, dir, ent->d_name, false).state ==
			    JUDGE_HIDDEN)
			type = S_IFREG;
	}
	*out = (struct stat){.st_ino = ent->d_ino, .st_mode = type};
}

struct listing {
	struct view *v;
	fuse_req_t req;
	struct node *dir;
	struct handle *h;
	char *buf;
	size_t n, size;
	bool plus;
};

/* False: there is no room for it. */
static bool put_plus(struct listing *l, const struct dirent *ent)
{
	struct fuse_entry_param e = {0};
	size_t need;

	if (is_dots(ent->d_name) ||
	    view_enter(l->v, l->dir, ent->d_name, &e) != 0) {
		e = (struct fuse_entry_param){0};
		tell_type(l->v, l->dir, ent, &e.attr);
	}
	need = fuse_add_direntry_plus(l->req, l->buf + l->n, l->size - l->n,
				      ent->d_name, &e, ent->d_off);
	if (need > l->size - l->n) {
		if (e.ino)
			view_drop(l->v, view_node(l->v, e.ino), 1);
		return false;
	}
	l->n += need;
	return true;
}

static bool put_plain(struct listing *l, const struct dirent *ent)
{
	struct stat st;
	size_t need;

	tell_type(l->v, l->dir, ent, &st);
	need = fuse_add_direntry(l->req, l->buf + l->n, l->size - l->n,
				 ent->d_name, &st, ent->d_off);
	if (need > l->size - l->n)
		return false;
	l->n += need;
	return true;
}

static int fill_listing(struct listing *l, off_t from)
{
	struct handle *h = l->h;
	int rc = view_current(l->v, l->dir);

	if (rc)
		return rc;
	if (from != h->at) {
		seekdir(h->dir, from);
		h->ent = NULL;
		h->at = from;
	}
	for (;;) {
		errno = 0;
		if (!h->ent)
			h->ent = readdir(h->dir);
		if (!h->ent)
			return l->n ? 0 : errno;
		if (!(l->plus ? put_plus(l, h->ent) : put_plain(l, h->ent)))
			return 0;
		h->at = h->ent->d_off;
		h->ent = NULL;
	}
}

static void reply_listing(fuse_req_t req, fuse_ino_t ino, size_t size,
			  off_t from, struct fuse_file_info *fi, bool plus)
{
	struct view *v = view_of(req);
	struct listing l = {.v = v,
			    .req = req,
			    .dir = view_node(v, ino),
			    .h = handle_of(fi),
			    .size = size,
			    .plus = plus};
	int rc = 0;

	if (l.h->dir) {
		l.buf = malloc(size);
		pthread_mutex_lock(&v->lock);
		rc = l.buf ? fill_listing(&l, from) : ENOMEM;
		pthread_mutex_unlock(&v->lock);
	}
	if (rc)
		fuse_reply_err(req, rc);
	else
		fuse_reply_buf(req, l.buf, l.n);
	free(l.buf);
}

static void on_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t from,
		       struct fuse_file_info *fi)
{
	reply_listing(req, ino, size, from, fi, false);
}

static void on_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size,
			   off_t from, struct fuse_file_info *fi)
{
	reply_listing(req, ino, size, from, fi, true);
}

static void on_fsyncdir(fuse_req_t req, fuse_ino_t ino, int data_only,
			struct fuse_file_info *fi)
{
	struct handle *h = handle_of(fi);
	int rc = 0;

	(void)ino;
	serve_yield();
	if (h->fd >= 0)
		rc = data_only ? fdatasync(h->fd) : fsync(h->fd);
	fuse_reply_err(req, rc < 0 ? errno : 0);
}

void ops_dirs(struct fuse_lowlevel_ops *ops)
{
	ops->opendir = on_opendir;
	ops->releasedir = on_releasedir;
	ops->readdir = on_readdir;
	ops->readdirplus = on_readdirplus;
	ops->fsyncdir = on_fsyncdir;
}
