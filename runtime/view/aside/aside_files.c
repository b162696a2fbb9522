/*
 * The content of what is made aside, and what else can be changed of it.
 */
#include "runtime/view/aside/aside.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static int set_size(struct view *v, struct copy_data *d, uint64_t size)
{
	if (!copies_grow(&v->copies, d, size))
		return ENOSPC;
	if (ftruncate(d->fd, (off_t)size) < 0)
		return errno;
	copies_shrink(&v->copies, d, size);
	return 0;
}

int aside_open(struct view *v, struct node *n, struct fuse_file_info *fi)
{
	struct copy_data *d = aside_data(v, n);
	int rc = d ? 0 : ESTALE;

	if (rc == 0 && d->husk && !view_writes(fi->flags))
		return view_opened(n, -1, fi);
	if (rc == 0 && d->husk)
		return n->orphan || !aside_may_remove(v, n->parent, n->name,
						      false)
			       ? view_refuse_node(v, RECORD_WRITE, n)
			       : aside_replace(v, n);
	if (rc == 0 && fi->flags & O_TRUNC)
		rc = set_size(v, d, 0);
	if (rc == 0)
		rc = view_opened(n, d->fd, fi);
	if (rc)
		return rc;
	view_handle(fi)->data = d;
	d->refs++;
	/* Nobody else writes it. */
	fi->keep_cache = !(fi->flags & O_TRUNC);
	return 0;
}

int aside_change(struct view *v, struct node *n, const struct stat *to, int set,
		 struct statx *x)
{
	struct copy_data *d = aside_data(v, n);
	uid_t uid = set & FUSE_SET_ATTR_UID ? to->st_uid : (uid_t)-1;
	gid_t gid = set & FUSE_SET_ATTR_GID ? to->st_gid : (gid_t)-1;
	int rc = 0;

	if (!d)
		return ESTALE;
	if (d->husk)
		return EPERM;
	if (set & FUSE_SET_ATTR_MODE && fchmod(d->fd, to->st_mode & 07777) < 0)
		return errno;
	if (set & (FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID) &&
	    fchown(d->fd, uid, gid) < 0)
		return errno;
	if (set & FUSE_SET_ATTR_SIZE)
		rc = n->type == S_IFREG ? set_size(v, d, (uint64_t)to->st_size)
					: EINVAL;
	if (rc == 0 && set & (FUSE_SET_ATTR_ATIME | FUSE_SET_ATTR_MTIME) &&
	    view_set_times(d->fd, to, set) < 0)
		rc = errno;
	return rc ? rc : aside_stat(v, n, x);
}

ssize_t aside_readlink(const struct view *v, const struct node *n, char *buf,
		       size_t size)
{
	const struct copy_data *d = aside_data(v, n);
	const struct copy *c = n->orphan ? NULL : aside_at(v, n, NULL);

	if (d && d->husk && c && c->text)
		return snprintf(buf, size, "%s", c->text);
	errno = d && d->husk ? ENOENT : ESTALE;
	return d && !d->husk ? pread(d->fd, buf, size, 0) : -1;
}

ssize_t aside_write(struct view *v, struct handle *h, const char *data,
		    size_t size, off_t at)
{
	ssize_t n = -1;

	pthread_mutex_lock(&v->lock);
	errno = ENOSPC;
	if (copies_grow(&v->copies, h->data, (uint64_t)at + size))
		n = pwrite(h->fd, data, size, at);
	pthread_mutex_unlock(&v->lock);
	return n;
}
