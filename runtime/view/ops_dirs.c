/*
 * Listings of folders: what the disk has, and then what is known beside it. One
 * that is hidden has nothing of the disk's but what git's index has; what is
 * hidden in another is there, and nothing is said of it but that it is a folder
 * or a file.
 */
#include "runtime/view/aside/aside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* Where in a listing the disk's names end: below it, places are the disk's, and
 * some of them are large. From here on, they are serials of copies. */
#define LISTING_PAST (INT64_MAX - INT32_MAX)

static int open_listing(struct view *v, struct node *n,
			struct fuse_file_info *fi)
{
	int fd = -1, rc = view_current(v, n);
	struct judge_word word;
	DIR *dir;

	if (rc)
		return rc;
	word = n->word;
	rc = view_guard(v, RECORD_READ, &word, n, NULL);
	if (rc)
		return rc;
	if (n->word.state == JUDGE_HIDDEN) {
		if (!aside_of(v, n))
			view_refuse_node(v, RECORD_READ, n);
		return view_opened(n, -1, fi);
	}
	/* The kernel keeps a listing for as long as the folder's time is the
	 * same, and hears when it is not; of copies that time knows nothing. */
	fi->cache_readdir =
		!aside_of(v, n) && watches_add(&v->watches, v->proc, n);
	fi->keep_cache = fi->cache_readdir;
	fd = openat(n->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	rc = dir ? view_opened(n, fd, fi) : errno;
	if (rc == 0)
		view_handle(fi)->dir = dir;
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

struct listing {
	struct view *v;
	fuse_req_t req;
	struct node *dir;
	struct handle *h;
	const struct copy *known; /* of the folder; may be NULL */
	char *buf;
	size_t n, size;
	bool plus;
};

/* What a listing says without having looked. */
static void tell_type(const struct listing *l, const struct dirent *ent,
		      struct stat *out)
{
	mode_t type = DTTOIF(ent->d_type);
	struct statx x;

	if (!l->h->past && !is_dots(ent->d_name)) {
		if (ent->d_type == DT_UNKNOWN &&
		    view_look(l->dir->fd, ent->d_name, &x) == 0)
			type = x.stx_mode & S_IFMT;
		if (type != S_IFDIR && type != S_IFREG &&
		    view_judge_new(l->v, l->dir, ent->d_name, false).state ==
			    JUDGE_HIDDEN)
			type = S_IFREG;
	}
	*out = (struct stat){.st_ino = ent->d_ino, .st_mode = type};
}

/* False: there is no room for it. */
static bool put_plus(struct listing *l, const struct dirent *ent)
{
	struct fuse_entry_param e = {0};
	size_t need;

	if (is_dots(ent->d_name) ||
	    view_enter(l->v, l->dir, ent->d_name, &e) != 0) {
		e = (struct fuse_entry_param){0};
		tell_type(l, ent, &e.attr);
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

	tell_type(l, ent, &st);
	need = fuse_add_direntry(l->req, l->buf + l->n, l->size - l->n,
				 ent->d_name, &st, ent->d_off);
	if (need > l->size - l->n)
		return false;
	l->n += need;
	return true;
}

static bool put_entry(struct listing *l, const struct dirent *ent)
{
	return l->plus ? put_plus(l, ent) : put_plain(l, ent);
}

static bool is_covered(const struct listing *l, const char *name)
{
	const struct copy *c =
		l->known ? copies_below(&l->v->copies, l->known, name) : NULL;

	return copy_is_made(c) || (c && c->kind == COPY_GONE);
}

/* 0: all of the disk's is there. EAGAIN: there is no more room. */
static int fill_from_disk(struct listing *l)
{
	struct handle *h = l->h;

	for (;;) {
		errno = 0;
		if (!h->ent)
			h->ent = readdir(h->dir);
		if (!h->ent)
			return errno;
		if (!is_covered(l, h->ent->d_name) && !put_entry(l, h->ent))
			return EAGAIN;
		h->at = h->ent->d_off;
		h->ent = NULL;
	}
}

/* What the disk does not list: all that is seen of a hidden folder, and what
 * was made aside in another. */
static bool describe_copy(struct listing *l, const struct copy *c,
			  struct dirent *out)
{
	struct copy *found;
	struct statx x;

	if ((l->dir->word.state != JUDGE_HIDDEN && !copy_is_made(c)) ||
	    strlen(c->name) >= sizeof(out->d_name) ||
	    view_find(l->v, l->dir, c->name, &x, &found) != 0)
		return false;
	*out = (struct dirent){.d_ino = view_number(l->v, &x),
			       .d_off = LISTING_PAST + c->serial,
			       .d_type = (unsigned char)IFTODT(x.stx_mode)};
	strcpy(out->d_name, c->name);
	return true;
}

static void fill_from_known(struct listing *l)
{
	const struct copy *c =
		l->known ? copies_after(l->known, l->h->serial) : NULL;
	struct dirent ent;

	for (; c; c = c->after) {
		if (describe_copy(l, c, &ent) && !put_entry(l, &ent))
			return;
		l->h->serial = c->serial;
		l->h->at = LISTING_PAST + c->serial;
	}
}

static void seek_listing(struct handle *h, off_t to)
{
	h->past = !h->dir || to >= LISTING_PAST;
	h->serial = to >= LISTING_PAST ? (uint32_t)(to - LISTING_PAST) : 0;
	h->ent = NULL;
	h->at = to;
	if (!h->past)
		seekdir(h->dir, to);
}

static int fill_listing(struct listing *l, off_t from)
{
	struct handle *h = l->h;
	int rc = view_current(l->v, l->dir);

	if (rc)
		return rc;
	l->known = aside_of(l->v, l->dir);
	if (from != h->at)
		seek_listing(h, from);
	if (!h->past && h->dir) {
		rc = fill_from_disk(l);
		if (rc)
			return rc == EAGAIN || l->n ? 0 : rc;
	}
	h->past = true;
	fill_from_known(l);
	return 0;
}

static void reply_listing(fuse_req_t req, fuse_ino_t ino, size_t size,
			  off_t from, struct fuse_file_info *fi, bool plus)
{
	struct view *v = view_of(req);
	struct listing l = {.v = v,
			    .req = req,
			    .dir = view_node(v, ino),
			    .h = view_handle(fi),
			    .size = size,
			    .plus = plus};
	int rc;

	l.buf = malloc(size);
	pthread_mutex_lock(&v->lock);
	rc = l.buf ? fill_listing(&l, from) : ENOMEM;
	pthread_mutex_unlock(&v->lock);
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
	struct handle *h = view_handle(fi);
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
