/*
 * What is said of a file beside its data: attributes, a link's text, extended
 * attributes.
 */
#include "runtime/view/aside/aside.h"

#include "compiler/plan/view_hello.h"
#include "runtime/view/parts.h"
#include "runtime/view/who/who.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

/* --- attributes ----------------------------------------------------------- */

/* A name that holds something hidden by now: its node changes its word with the
 * next lookup. */
static int look_node(struct view *v, struct node *n, struct handle *h,
		     struct statx *x)
{
	int fd, rc;

	if (n->aside)
		return aside_stat(v, n, x);
	if (h && h->fd >= 0)
		return view_look(h->fd, "", x);
	rc = view_grab(v, n, &fd, x);
	if (rc == 0)
		view_release_fd(n, fd);
	return rc;
}

int view_attr_of(struct view *v, struct node *n, struct handle *h,
		 struct statx *x, struct stat *out, double *out_timeout_s)
{
	int rc = look_node(v, n, h, x);

	if (rc)
		return rc;
	view_attr(v, n, x, out);
	*out_timeout_s = view_attr_timeout(n, x);
	return 0;
}

static void on_getattr(fuse_req_t req, fuse_ino_t ino,
		       struct fuse_file_info *fi)
{
	struct view *v = view_of(req);
	double timeout_s = 0;
	struct stat st;
	struct statx x;
	int rc;

	pthread_mutex_lock(&v->lock);
	rc = view_attr_of(v, view_node(v, ino), view_handle(fi), &x, &st,
			  &timeout_s);
	pthread_mutex_unlock(&v->lock);
	if (rc)
		fuse_reply_err(req, rc);
	else
		fuse_reply_attr(req, &st, timeout_s);
}

int view_set_times(int fd, const struct stat *to, int set)
{
	struct timespec t[2] = {{.tv_nsec = UTIME_OMIT},
				{.tv_nsec = UTIME_OMIT}};

	if (set & FUSE_SET_ATTR_ATIME_NOW)
		t[0].tv_nsec = UTIME_NOW;
	else if (set & FUSE_SET_ATTR_ATIME)
		t[0] = to->st_atim;
	if (set & FUSE_SET_ATTR_MTIME_NOW)
		t[1].tv_nsec = UTIME_NOW;
	else if (set & FUSE_SET_ATTR_MTIME)
		t[1] = to->st_mtim;
	return utimensat(fd, "", t, AT_EMPTY_PATH);
}

static int set_size(struct view *v, int fd, struct handle *h, off_t size)
{
	auto_fd int own = -1;

	if (h && h->fd >= 0)
		return ftruncate(h->fd, size);
	own = view_reopen(v, fd, O_WRONLY | O_NONBLOCK);
	return own < 0 ? -1 : ftruncate(own, size);
}

/* fd: O_PATH. The order is the kernel's. */
static int set_attr(struct view *v, int fd, struct handle *h,
		    const struct stat *to, int set)
{
	char text[VIEW_FD_TEXT_MAX];
	uid_t uid = set & FUSE_SET_ATTR_UID ? to->st_uid : (uid_t)-1;
	gid_t gid = set & FUSE_SET_ATTR_GID ? to->st_gid : (gid_t)-1;

	if (set & FUSE_SET_ATTR_MODE &&
	    fchmodat(v->proc, view_fd_text(fd, text),
		     view_mode(to->st_mode) & 07777, 0))
		return errno;
	if (set & (FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID) &&
	    fchownat(fd, "", uid, gid, AT_EMPTY_PATH))
		return errno;
	if (set & FUSE_SET_ATTR_SIZE && set_size(v, fd, h, to->st_size))
		return errno;
	if (set & (FUSE_SET_ATTR_ATIME | FUSE_SET_ATTR_MTIME) &&
	    view_set_times(fd, to, set))
		return errno;
	return 0;
}

static int change_node(struct view *v, struct node *n, struct handle *h,
		       const struct stat *to, int set, struct statx *x)
{
	struct judge_word word;
	int fd, rc = view_current(v, n);

	if (rc)
		return rc;
	if (n->aside)
		return aside_change(v, n, to, set, x);
	word = n->word;
	rc = view_guard(v, RECORD_WRITE, &word, n, NULL);
	if (rc == 0 && word.state != JUDGE_OPEN)
		rc = view_refuse_node(v, RECORD_WRITE, n);
	if (rc == 0)
		rc = view_grab(v, n, &fd, x);
	if (rc)
		return rc;
	rc = set_attr(v, fd, h, to, set);
	if (rc == 0)
		rc = view_look(fd, "", x);
	if (rc == 0)
		view_saw(n, x);
	view_release_fd(n, fd);
	return rc;
}

static void on_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *to, int set,
		       struct fuse_file_info *fi)
{
	struct view *v = view_of(req);
	struct node *n = view_node(v, ino);
	struct stat st;
	struct statx x;
	double timeout_s;
	int rc;

	pthread_mutex_lock(&v->lock);
	rc = change_node(v, n, view_handle(fi), to, set, &x);
	if (rc == 0)
		view_attr(v, n, &x, &st);
	timeout_s = rc ? 0 : view_attr_timeout(n, &x);
	pthread_mutex_unlock(&v->lock);
	if (rc)
		fuse_reply_err(req, rc);
	else
		fuse_reply_attr(req, &st, timeout_s);
}

/* Of a hidden link, what git's index says of it: not what the disk does. */
static ssize_t read_tracked(struct view *v, const struct node *n, char *buf)
{
	const struct copy *c = n->orphan ? NULL : aside_at(v, n, NULL);
	const struct statx *index = aside_tracked(v, n);

	errno = index && S_ISLNK(index->stx_mode) ? ENOENT : EINVAL;
	if (errno == EINVAL || !c || !c->text)
		return -1;
	return snprintf(buf, VIEW_PATH_MAX, "%s", c->text);
}

/* Of a home, a link in the place of a folder that leads to what is protected
 * would lead past that: nobody follows it. */
static int may_follow(struct view *v, const struct node *n)
{
	struct judge_word word;

	if (!v->home || n->orphan || !view_spells(v, n->parent, n->name, &word))
		return 0;
	return view_refuse(v, RECORD_READ, word, n, NULL, EACCES);
}

static ssize_t read_link(struct view *v, struct node *n, char *buf)
{
	struct statx x;
	ssize_t len;
	int fd, rc;

	if (n->aside)
		return aside_readlink(v, n, buf, VIEW_PATH_MAX);
	rc = may_follow(v, n);
	if (rc == 0)
		rc = view_grab(v, n, &fd, &x);
	errno = rc;
	if (rc)
		return -1;
	len = n->word.state == JUDGE_HIDDEN
		      ? read_tracked(v, n, buf)
		      : readlinkat(fd, "", buf, VIEW_PATH_MAX);
	rc = errno;
	view_release_fd(n, fd);
	errno = rc;
	return len;
}

static void on_readlink(fuse_req_t req, fuse_ino_t ino)
{
	struct view *v = view_of(req);
	char text[VIEW_PATH_MAX + 1];
	ssize_t len;
	int rc;

	pthread_mutex_lock(&v->lock);
	len = read_link(v, view_node(v, ino), text);
	rc = len < 0 ? errno : 0;
	pthread_mutex_unlock(&v->lock);
	if (rc) {
		fuse_reply_err(req, rc);
		return;
	}
	text[len] = '\0';
	fuse_reply_readlink(req, text);
}

static void on_statfs(fuse_req_t req, fuse_ino_t ino)
{
	struct view *v = view_of(req);
	struct statvfs st;

	(void)ino;
	if (fstatvfs(v->nodes.root.fd, &st) < 0)
		fuse_reply_err(req, errno);
	else
		fuse_reply_statfs(req, &st);
}

/* --- extended attributes -------------------------------------------------- */

/* The others are the host's: labels, capabilities, access lists. */
static bool is_users(const char *name)
{
	return strncmp(name, "user.", 5) == 0;
}

/*
 * A descriptor of what may have such attributes, for /proc/self/fd: links
 * cannot be named there without following them.
 */
static int grab_for_xattr(struct view *v, struct node *n, bool change,
			  int *out_fd)
{
	struct judge_word word;
	struct statx x;
	int rc = view_current(v, n);

	if (rc)
		return rc;
	if (n->aside)
		return change ? EOPNOTSUPP : ENODATA;
	word = n->word;
	rc = view_guard(v, change ? RECORD_WRITE : RECORD_READ, &word, n, NULL);
	if (rc)
		return rc;
	if (change && word.state != JUDGE_OPEN)
		return view_refuse_node(v, RECORD_WRITE, n);
	if (n->word.state == JUDGE_HIDDEN)
		return ENODATA;
	if (n->type == S_IFLNK)
		return change ? EPERM : ENODATA;
	return view_grab(v, n, out_fd, &x);
}

static const char *proc_path(int fd, char buf[64])
{
	snprintf(buf, 64, "/proc/self/fd/%d", fd);
	return buf;
}

/* What the calls have in common; size 0 asks for the length. */
struct xattr_call {
	const char *name;
	const char *value; /* to be set */
	char *out;	   /* to be read into */
	size_t size;
	int flags;
	ssize_t (*run)(const char *path, const struct xattr_call *c);
};

static ssize_t run_get(const char *path, const struct xattr_call *c)
{
	return getxattr(path, c->name, c->out, c->size);
}

static ssize_t run_list(const char *path, const struct xattr_call *c)
{
	return listxattr(path, c->out, c->size);
}

static ssize_t run_set(const char *path, const struct xattr_call *c)
{
	return setxattr(path, c->name, c->value, c->size, c->flags);
}

static ssize_t run_remove(const char *path, const struct xattr_call *c)
{
	return removexattr(path, c->name);
}

static int run_xattr(fuse_req_t req, fuse_ino_t ino, bool change,
		     const struct xattr_call *c, ssize_t *out_n)
{
	struct view *v = view_of(req);
	struct node *n = view_node(v, ino);
	char path[64];
	int fd, rc;

	pthread_mutex_lock(&v->lock);
	rc = grab_for_xattr(v, n, change, &fd);
	if (rc == 0) {
		*out_n = c->run(proc_path(fd, path), c);
		rc = *out_n < 0 ? errno : 0;
		view_release_fd(n, fd);
	}
	pthread_mutex_unlock(&v->lock);
	return rc;
}

static void on_setxattr(fuse_req_t req, fuse_ino_t ino, const char *name,
			const char *value, size_t size, int flags)
{
	struct xattr_call c = {.name = name,
			       .value = value,
			       .size = size,
			       .flags = flags,
			       .run = run_set};
	ssize_t n;

	fuse_reply_err(req, is_users(name) ? run_xattr(req, ino, true, &c, &n)
					   : EOPNOTSUPP);
}

static void on_removexattr(fuse_req_t req, fuse_ino_t ino, const char *name)
{
	struct xattr_call c = {.name = name, .run = run_remove};
	ssize_t n;

	fuse_reply_err(req, is_users(name) ? run_xattr(req, ino, true, &c, &n)
					   : EOPNOTSUPP);
}

/* No attributes of anything's, but questions: compiler/plan/view_hello.h. */
static int ask_who(struct view *v, fuse_ino_t ino,
		   int (*ask)(int fd, pid_t thread))
{
	int rc;

	if (v->who < 0 || ino != FUSE_ROOT_ID)
		return ENODATA;
	pthread_mutex_lock(&v->lock);
	rc = ask(v->who, serve_asker());
	pthread_mutex_unlock(&v->lock);
	return rc;
}

static void on_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name,
			size_t size)
{
	struct xattr_call c = {.name = name, .size = size, .run = run_get};
	ssize_t n = 0;
	int rc = ENODATA;

	if (strcmp(name, VIEW_SEAL_ATTRIBUTE) == 0) {
		rc = ask_who(view_of(req), ino, who_ask_to_seal);
	} else if (strcmp(name, VIEW_MAIN_ATTRIBUTE) == 0) {
		rc = ask_who(view_of(req), ino, who_ask_to_be_main);
	} else if (is_users(name)) {
		c.out = size ? malloc(size) : NULL;
		rc = size && !c.out ? ENOMEM
				    : run_xattr(req, ino, false, &c, &n);
	}
	if (rc)
		fuse_reply_err(req, rc);
	else if (size)
		fuse_reply_buf(req, c.out, (size_t)n);
	else
		fuse_reply_xattr(req, (size_t)n);
	free(c.out);
}

/* The names of a list that may be seen, moved together; their length. */
static size_t keep_users(char *list, size_t n)
{
	size_t kept = 0;

	for (size_t at = 0, len; at < n; at += len) {
		len = strlen(list + at) + 1;
		if (!is_users(list + at))
			continue;
		memmove(list + kept, list + at, len);
		kept += len;
	}
	return kept;
}

static void on_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size)
{
	struct xattr_call c = {.size = XATTR_LIST_MAX, .run = run_list};
	ssize_t n = 0;
	int rc;

	c.out = malloc(c.size);
	rc = c.out ? run_xattr(req, ino, false, &c, &n) : ENOMEM;
	if (rc == ENODATA)
		rc = 0;
	if (rc == 0)
		n = (ssize_t)keep_users(c.out, (size_t)n);
	if (rc == 0 && size && (size_t)n > size)
		rc = ERANGE;
	if (rc)
		fuse_reply_err(req, rc);
	else if (size)
		fuse_reply_buf(req, c.out, (size_t)n);
	else
		fuse_reply_xattr(req, (size_t)n);
	free(c.out);
}

void ops_attr(struct fuse_lowlevel_ops *ops)
{
	ops->getattr = on_getattr;
	ops->setattr = on_setattr;
	ops->readlink = on_readlink;
	ops->statfs = on_statfs;
	ops->setxattr = on_setxattr;
	ops->getxattr = on_getxattr;
	ops->listxattr = on_listxattr;
	ops->removexattr = on_removexattr;
}
