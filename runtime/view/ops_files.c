/*
 * Open files: what is hidden is empty, everything else is the host's own file.
 */
#include "runtime/view/aside/aside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

/* More is read in parts: what one thread has room for. */
#define READ_MAX (1u << 20)

/* --- opening -------------------------------------------------------------- */

bool view_writes(int flags)
{
	return (flags & O_ACCMODE) != O_RDONLY || flags & O_TRUNC;
}

int view_open_flags(int flags)
{
	/* Whether pages are cached is the agent's kernel's affair; a FIFO that
	 * came in between is not to be waited for. */
	return (flags & ~(O_CREAT | O_EXCL | O_TRUNC | O_NOCTTY | O_DIRECT)) |
	       O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
}

int view_opened(struct node *n, int fd, struct fuse_file_info *fi)
{
	struct handle *h = calloc(1, sizeof(*h));

	if (!h)
		return ENOMEM;
	*h = (struct handle){.next = n->open,
			     .node = n,
			     .fd = fd,
			     .hollow = n->tracked && fd < 0};
	n->open = h;
	n->below_n++;
	fi->fh = (uintptr_t)h;
	fi->noflush = 1;
	/* What is hidden has a size that its data has not. */
	fi->direct_io = n->tracked || fi->flags & O_DIRECT;
	return 0;
}

static void close_handle(struct view *v, struct handle *h)
{
	struct handle **at = &h->node->open;

	while (*at != h)
		at = &(*at)->next;
	*at = h->next;
	h->node->below_n--;
	node_settle(&v->nodes, h->node);
	if (h->data)
		copies_release(&v->copies, h->data);
	else if (h->dir)
		closedir(h->dir);
	else
		fd_close(&h->fd);
	free(h);
}

void view_closed(struct view *v, struct fuse_file_info *fi)
{
	pthread_mutex_lock(&v->lock);
	close_handle(v, view_handle(fi));
	pthread_mutex_unlock(&v->lock);
}

void view_abandon(struct view *v, fuse_ino_t ino, struct fuse_file_info *fi)
{
	view_closed(v, fi);
	pthread_mutex_lock(&v->lock);
	view_drop(v, view_node(v, ino), 1);
	pthread_mutex_unlock(&v->lock);
}

/* What has no name any more, by what is open of it: /proc/PID/fd. */
static int open_again(struct view *v, struct node *n, int flags, int *out_fd,
		      struct statx *x)
{
	int held, rc = view_grab(v, n, &held, x);

	if (rc)
		return rc;
	*out_fd = view_reopen(v, held, flags & ~O_NOFOLLOW);
	rc = *out_fd < 0 ? errno : 0;
	view_release_fd(n, held);
	return rc;
}

static int open_node(struct view *v, struct node *n, int flags, int *out_fd,
		     struct statx *x)
{
	int wanted = view_open_flags(flags), fd = -1, rc;

	if (n->orphan)
		rc = open_again(v, n, wanted, &fd, x);
	else
		rc = view_open_named(v, n, wanted, &fd, x);
	/* Its name is another file's: the kernel looks for that, or, where it
	 * did not come by a name, asks once more. */
	if (rc == ESTALE)
		node_orphan(&v->nodes, n);
	if (rc == 0 && flags & O_TRUNC && ftruncate(fd, 0) < 0)
		rc = errno;
	if (rc)
		fd_close(&fd);
	else
		*out_fd = fd;
	return rc;
}

/* Are the pages that the kernel has still the file's? */
static bool is_known(struct node *n, const struct statx *x)
{
	bool same = n->changed_s == x->stx_ctime.tv_sec &&
		    n->changed_ns == x->stx_ctime.tv_nsec;

	view_saw(n, x);
	return same;
}

static int open_file(struct view *v, struct node *n, struct fuse_file_info *fi)
{
	struct judge_word word;
	struct statx x;
	int rc, fd = -1;

	rc = view_current(v, n);
	if (rc)
		return rc;
	if (n->aside)
		return aside_open(v, n, fi);
	word = n->word;
	rc = view_guard(v, view_writes(fi->flags) ? RECORD_WRITE : RECORD_READ,
			&word, n, NULL);
	if (rc)
		return rc;
	if (word.state != JUDGE_OPEN && view_writes(fi->flags))
		return !n->orphan && n->parent &&
				       aside_hides(v, n->parent, n->name, false)
			       ? aside_replace(v, n)
			       : view_refuse_node(v, RECORD_WRITE, n);
	if (n->word.state == JUDGE_HIDDEN) {
		/* What has the name by now is hidden under others, too. */
		if (n->parent && view_look(n->parent->fd, n->name, &x) == 0)
			view_judge(v, n->parent, n->name, &x);
		view_refuse_node(v, RECORD_READ, n);
		return view_opened(n, -1, fi);
	}
	rc = open_node(v, n, fi->flags, &fd, &x);
	if (rc)
		return rc;
	fi->keep_cache = is_known(n, &x) && !(fi->flags & O_TRUNC);
	if (!fi->keep_cache)
		fuse_lowlevel_notify_inval_inode(v->session, view_ino(v, n), -1,
						 0);
	rc = view_opened(n, fd, fi);
	if (rc)
		close(fd);
	return rc;
}

static void on_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct view *v = view_of(req);
	int rc;

	pthread_mutex_lock(&v->lock);
	rc = open_file(v, view_node(v, ino), fi);
	pthread_mutex_unlock(&v->lock);
	if (rc)
		fuse_reply_err(req, rc);
	else if (fuse_reply_open(req, fi) < 0)
		view_closed(v, fi);
}

static void on_release(fuse_req_t req, fuse_ino_t ino,
		       struct fuse_file_info *fi)
{
	(void)ino;
	view_closed(view_of(req), fi);
	fuse_reply_err(req, 0);
}

/* --- data ----------------------------------------------------------------- */

/* What the disk has to be asked for, another thread need not wait for. */
static ssize_t read_file(int fd, char *buf, size_t size, off_t at)
{
	struct iovec io = {buf, size};
	ssize_t n = preadv2(fd, &io, 1, at, RWF_NOWAIT), more;

	if (n < 0 && errno != EAGAIN && errno != EOPNOTSUPP)
		return n;
	if (n == (ssize_t)size)
		return n;
	if (n < 0) {
		n = 0;
		serve_yield();
	}
	do
		more = pread(fd, buf + n, size - (size_t)n, at + n);
	while (more < 0 && errno == EINTR);
	return more < 0 ? more : n + more;
}

/*
 * What is hidden ends at once, whatever size it shows; but a page that somebody
 * maps has to be there, and is zeros. Pages are asked for on nobody's behalf,
 * what is read without them on a process's.
 */
static void on_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t at,
		    struct fuse_file_info *fi)
{
	static _Thread_local char *room;
	struct handle *h = view_handle(fi);
	ssize_t n;

	(void)ino;
	if (!room)
		room = malloc(READ_MAX);
	if (size > READ_MAX)
		size = READ_MAX;
	if (room && h->hollow && fi->lock_owner == 0) {
		fuse_reply_buf(req, memset(room, 0, size), size);
		return;
	}
	if (!room || h->fd < 0) {
		fuse_reply_buf(req, NULL, 0);
		return;
	}
	n = read_file(h->fd, room, size, at);
	if (n < 0)
		fuse_reply_err(req, errno);
	else
		fuse_reply_buf(req, room, (size_t)n);
}

/* What was written here is no change on the host. */
static void saw_write(struct view *v, struct handle *h)
{
	struct statx x;

	if (view_look(h->fd, "", &x))
		return;
	pthread_mutex_lock(&v->lock);
	view_saw(h->node, &x);
	pthread_mutex_unlock(&v->lock);
}

static void on_write(fuse_req_t req, fuse_ino_t ino, const char *data,
		     size_t size, off_t at, struct fuse_file_info *fi)
{
	struct handle *h = view_handle(fi);
	ssize_t n;

	(void)ino;
	errno = EROFS;
	if (h->data)
		n = aside_write(view_of(req), h, data, size, at);
	else
		n = h->fd < 0 ? -1 : pwrite(h->fd, data, size, at);
	if (n < 0) {
		fuse_reply_err(req, errno);
		return;
	}
	saw_write(view_of(req), h);
	fuse_reply_write(req, (size_t)n);
}

static void on_fsync(fuse_req_t req, fuse_ino_t ino, int data_only,
		     struct fuse_file_info *fi)
{
	int fd = view_handle(fi)->fd, rc = 0;

	(void)ino;
	serve_yield();
	if (fd >= 0)
		rc = data_only ? fdatasync(fd) : fsync(fd);
	fuse_reply_err(req, rc < 0 ? errno : 0);
}

static void on_fallocate(fuse_req_t req, fuse_ino_t ino, int mode, off_t at,
			 off_t size, struct fuse_file_info *fi)
{
	struct handle *h = view_handle(fi);
	int rc;

	(void)ino;
	serve_yield();
	if (h->fd < 0)
		rc = EROFS;
	else if (h->data)
		rc = EOPNOTSUPP; /* then it is written, and counted */
	else
		rc = fallocate(h->fd, mode, at, size) ? errno : 0;
	if (rc == 0)
		saw_write(view_of(req), h);
	fuse_reply_err(req, rc);
}

static void on_lseek(fuse_req_t req, fuse_ino_t ino, off_t at, int whence,
		     struct fuse_file_info *fi)
{
	int fd = view_handle(fi)->fd;
	off_t to;

	(void)ino;
	errno = ENXIO; /* in what is hidden there is no data */
	to = fd < 0 ? -1 : lseek(fd, at, whence);
	if (to < 0)
		fuse_reply_err(req, errno);
	else
		fuse_reply_lseek(req, to);
}

static void on_copy(fuse_req_t req, fuse_ino_t ino, off_t at,
		    struct fuse_file_info *fi, fuse_ino_t to_ino, off_t to_at,
		    struct fuse_file_info *to_fi, size_t size, int flags)
{
	struct handle *from = view_handle(fi), *to = view_handle(to_fi);
	ssize_t n;

	(void)ino;
	(void)to_ino;
	if (from->fd < 0 || to->fd < 0 || to->data) {
		fuse_reply_err(req, EXDEV); /* then it is read and written */
		return;
	}
	serve_yield();
	n = copy_file_range(from->fd, &at, to->fd, &to_at, size,
			    (unsigned)flags);
	if (n < 0) {
		fuse_reply_err(req, errno);
		return;
	}
	saw_write(view_of(req), to);
	fuse_reply_write(req, (size_t)n);
}

void ops_files(struct fuse_lowlevel_ops *ops)
{
	ops->open = on_open;
	ops->release = on_release;
	ops->read = on_read;
	ops->write = on_write;
	ops->fsync = on_fsync;
	ops->fallocate = on_fallocate;
	ops->lseek = on_lseek;
	ops->copy_file_range = on_copy;
}
