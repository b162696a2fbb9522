/*
 * Names on the disk: looked at in the folder that is held, never by a path, and
 * judged at the moment of looking.
 */
#include "runtime/view/aside/aside.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

struct node *view_node(struct view *v, fuse_ino_t ino)
{
	return ino == FUSE_ROOT_ID ? &v->nodes.root
				   : (struct node *)(uintptr_t)ino;
}

fuse_ino_t view_ino(const struct view *v, const struct node *n)
{
	return n == &v->nodes.root ? FUSE_ROOT_ID : (fuse_ino_t)(uintptr_t)n;
}

/* --- looking -------------------------------------------------------------- */

int view_look(int fd, const char *name, struct statx *out)
{
	int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT |
		    (name[0] ? 0 : AT_EMPTY_PATH);

	if (statx(fd, name, flags, STATX_BASIC_STATS | STATX_BTIME, out) < 0)
		return errno;
	return 0;
}

bool view_is_beside(const struct view *v, const struct node *dir,
		    const char *name)
{
	return v->beside >= 0 && !dir->parent &&
	       strcmp(name, VIEW_HELLO_BESIDE) == 0;
}

bool view_is_beside_node(const struct view *v, const struct node *n)
{
	return n->parent && view_is_beside(v, n->parent, n->name);
}

/* A name on the disk, but for the one that stands for another folder. */
static int look_at(const struct view *v, const struct node *dir,
		   const char *name, struct statx *x)
{
	return view_is_beside(v, dir, name) ? view_look(v->beside, "", x)
					    : view_look(dir->fd, name, x);
}

static uint64_t dev_of(const struct statx *x)
{
	return makedev(x->stx_dev_major, x->stx_dev_minor);
}

bool view_is_same(const struct node *n, const struct statx *x)
{
	return n->ino == x->stx_ino && n->dev == dev_of(x) &&
	       n->type == (x->stx_mode & S_IFMT);
}

struct hidden_file view_identity(const struct statx *x)
{
	bool born = x->stx_mask & STATX_BTIME;

	return (struct hidden_file){.dev = dev_of(x),
				    .ino = x->stx_ino,
				    .born_s = born ? x->stx_btime.tv_sec : 0,
				    .born_ns = born ? x->stx_btime.tv_nsec : 0};
}

static struct timespec time_of(struct statx_timestamp t)
{
	return (struct timespec){.tv_sec = t.tv_sec, .tv_nsec = t.tv_nsec};
}

uint64_t view_number(const struct view *v, const struct statx *x)
{
	/* Two file systems may have the same number. */
	return dev_of(x) == v->nodes.root.dev ? x->stx_ino
					      : x->stx_ino ^ dev_of(x) << 40;
}

/* While git may make names in it or write it aside, it has to look so. */
static mode_t hidden_mode(struct view *v, const struct node *n,
			  const struct statx *x, bool shown)
{
	bool is_dir = S_ISDIR(x->stx_mode);
	bool opens = view_may_open(n->word) && aside_is_locked(v);

	if (is_dir)
		return S_IFDIR | (opens ? 0755 : 0555);
	if (shown && S_ISLNK(x->stx_mode))
		return S_IFLNK | 0777;
	return S_IFREG | (opens ? 0644 : 0444) |
	       (shown ? x->stx_mode & 0111 : 0);
}

void view_attr(struct view *v, const struct node *n, const struct statx *x,
	       struct stat *out)
{
	const struct statx *index = n->tracked ? aside_tracked(v, n) : NULL;
	bool shown = index || (n->tracked && n->aside);

	if (index)
		x = index;
	*out = (struct stat){
		.st_ino = view_number(v, x),
		.st_mode = x->stx_mode,
		.st_nlink = x->stx_nlink,
		.st_uid = x->stx_uid == v->other_uid ? v->uid : x->stx_uid,
		.st_gid = x->stx_gid == v->other_gid ? v->gid : x->stx_gid,
		.st_rdev = makedev(x->stx_rdev_major, x->stx_rdev_minor),
		.st_size = (off_t)x->stx_size,
		.st_blksize = x->stx_blksize,
		.st_blocks = (blkcnt_t)x->stx_blocks,
		.st_atim = time_of(x->stx_atime),
		.st_mtim = time_of(x->stx_mtime),
		.st_ctim = time_of(x->stx_ctime)};
	/* It stands for the user's own, and git asks whose it is. */
	if (view_is_beside_node(v, n)) {
		out->st_uid = v->uid;
		out->st_gid = v->gid;
		out->st_mode = S_IFDIR | 0755;
	}
	if (n->word.state != JUDGE_HIDDEN || (n->aside && !n->tracked))
		return;
	out->st_mode = hidden_mode(v, n, x, shown);
	out->st_nlink = S_ISDIR(x->stx_mode) ? 2 : 1;
	out->st_rdev = 0;
	if (shown)
		return;
	out->st_size = 0;
	out->st_blocks = 0;
}

/* Reading what is hidden shows the kernel its end: it asks for the size anew.
 */
double view_attr_timeout(const struct node *n, const struct statx *x)
{
	const struct node *heard = n->type == S_IFDIR ? n : n->parent;

	if (n->tracked || (x->stx_nlink > 1 && n->type != S_IFDIR))
		return 0;
	return heard->watch && !n->aside ? VIEW_TIMEOUT_HEARD_S
					 : VIEW_TIMEOUT_S;
}

void view_saw(struct node *n, const struct statx *x)
{
	n->changed_s = x->stx_ctime.tv_sec;
	n->changed_ns = x->stx_ctime.tv_nsec;
}

/* --- still there ---------------------------------------------------------- */

/* Again by its name, after a folder above was renamed. */
static void judge_again(struct view *v, struct node *n)
{
	if (n->word.section != JUDGE_BY_INODE && !n->aside)
		n->word = view_judge_new(v, n->parent, n->name,
					 n->type == S_IFDIR);
	view_set_below(v, n);
	view_set_known(n, aside_at(v, n, NULL));
	n->judged = v->nodes.turn;
}

static uint32_t now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return (uint32_t)t.tv_sec;
}

/* Of a file, the caller looks itself where it is. */
static int refresh_name(struct view *v, struct node *n)
{
	uint32_t now = now_s();
	struct statx x;
	int rc;

	if (n->orphan)
		return ESTALE;
	if (n->judged != v->nodes.turn)
		judge_again(v, n);
	if (!n->aside && (n->type != S_IFDIR || n->seen == now))
		return 0;
	rc = n->aside ? aside_look(aside_at(v, n, NULL), &x)
		      : look_at(v, n->parent, n->name, &x);
	if (rc == 0 && view_is_same(n, &x)) {
		n->seen = now;
		return 0;
	}
	node_orphan(&v->nodes, n);
	return ESTALE;
}

/* The parents first; however deep it is. */
static int refresh_node(struct view *v, struct node *n)
{
	struct node *at = n;
	int rc = 0;

	for (; at->parent; at = at->parent)
		at->parent->down = at;
	while (rc == 0 && at != n) {
		at = at->down;
		rc = refresh_name(v, at);
	}
	return rc;
}

int view_fresh(struct view *v, struct node *dir)
{
	return refresh_node(v, dir);
}

int view_current(struct view *v, struct node *n)
{
	int rc = n->orphan ? 0 : refresh_node(v, n);

	return rc == ESTALE && n->orphan ? 0 : rc;
}

/* --- entering ------------------------------------------------------------- */

/* A folder's own descriptor, and what it says. */
static int open_folder(const struct view *v, const struct node *dir,
		       const char *name, int *out_fd, struct statx *x)
{
	bool beside = view_is_beside(v, dir, name);
	int fd = openat(beside ? v->beside : dir->fd, beside ? "." : name,
			O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return errno == ENOTDIR || errno == ELOOP ? ESTALE : errno;
	rc = view_look(fd, "", x);
	if (rc)
		close(fd);
	else
		*out_fd = fd;
	return rc;
}

/* What is not there may be so because the folder is another by now. */
static int look_in(struct view *v, struct node *dir, const char *name,
		   struct statx *x)
{
	int rc = look_at(v, dir, name, x);

	if (rc != ENOENT)
		return rc;
	dir->seen--;
	return view_fresh(v, dir) ? ESTALE : ENOENT;
}

int view_find(struct view *v, struct node *dir, const char *name,
	      struct statx *x, struct copy **out_copy)
{
	struct copy *c;
	int rc = view_fresh(v, dir);

	if (rc)
		return rc;
	*out_copy = c = aside_at(v, dir, name);
	if (copy_is_made(c))
		return aside_look(c, x);
	if (dir->aside || (c && c->kind == COPY_GONE))
		return ENOENT;
	if (dir->word.state != JUDGE_HIDDEN)
		return look_in(v, dir, name, x);
	/* Of a hidden folder, what git's index has, and what leads to it. */
	if (!c || dir->fd < 0)
		return ENOENT;
	rc = look_in(v, dir, name, x);
	return rc == 0 && S_ISDIR(x->stx_mode) != (c->kind == COPY_NONE)
		       ? ENOENT
		       : rc;
}

/* Never open: what stands aside is asked for by its node. */
static struct judge_word judge_copy(struct view *v, struct node *dir,
				    const char *name, const struct statx *x)
{
	struct judge_word word =
		view_judge_new(v, dir, name, S_ISDIR(x->stx_mode));

	if (word.state == JUDGE_OPEN)
		word = (struct judge_word){JUDGE_READONLY, JUDGE_BY_ALL, 0};
	return word;
}

/* What can be looked into, hidden or not. */
static bool is_entered(const struct judge_word word, const struct statx *x,
		       const struct copy *c)
{
	if (!S_ISDIR(x->stx_mode) || copy_is_made(c))
		return false;
	return word.state != JUDGE_HIDDEN || (c && c->kind == COPY_NONE);
}

static struct node *take_node(struct view *v, struct node *dir,
			      const char *name, const struct statx *x,
			      struct judge_word word, int *fd)
{
	struct node *n = node_find(&v->nodes, dir, name);
	bool hidden = word.state == JUDGE_HIDDEN;
	struct hidden_file id;

	if (!n || !view_is_same(n, x) ||
	    (n->word.state == JUDGE_HIDDEN) != hidden) {
		n = node_new(&v->nodes, dir, name);
		if (!n)
			return NULL;
		n->dev = dev_of(x);
		n->ino = x->stx_ino;
		n->type = x->stx_mode & S_IFMT;
		view_saw(n, x); /* the kernel has no data of it yet */
		n->judged = v->nodes.turn - 1;
		id = view_identity(x);
		n->made = S_ISDIR(x->stx_mode) && hidden_has(&v->made, &id);
	}
	if (n->fd < 0) {
		n->fd = *fd;
		*fd = -1;
	}
	n->word = word;
	if (n->judged != v->nodes.turn)
		view_set_below(v, n);
	n->judged = v->nodes.turn;
	n->seen = now_s();
	return n;
}

int view_enter(struct view *v, struct node *dir, const char *name,
	       struct fuse_entry_param *out)
{
	struct judge_word word;
	struct statx x;
	struct copy *c;
	struct node *n;
	auto_fd int fd = -1;
	/* Before the look: what changes from then on is heard of. */
	bool heard = watches_add(&v->watches, v->proc, dir);
	int rc = view_find(v, dir, name, &x, &c);

	if (rc)
		return rc;
	word = copy_is_made(c) ? judge_copy(v, dir, name, &x)
			       : view_judge(v, dir, name, &x);
	n = node_find(&v->nodes, dir, name);
	if (is_entered(word, &x, c) &&
	    !(n && n->fd >= 0 && view_is_same(n, &x))) {
		rc = open_folder(v, dir, name, &fd, &x);
		if (rc)
			return rc;
		word = view_judge(v, dir, name, &x);
	}
	n = take_node(v, dir, name, &x, word, &fd);
	if (!n)
		return ENOMEM;
	view_set_known(n, c);
	*out = (struct fuse_entry_param){
		.ino = view_ino(v, n),
		.attr_timeout = view_attr_timeout(n, &x),
		.entry_timeout = heard ? VIEW_TIMEOUT_HEARD_S : VIEW_TIMEOUT_S};
	/* What the kernel does not know yet, it cannot be told to forget. */
	if (n->lookups == 0 && out->attr_timeout > VIEW_TIMEOUT_S)
		out->attr_timeout = VIEW_TIMEOUT_S;
	n->lookups++;
	view_attr(v, n, &x, &out->attr);
	return 0;
}

void view_drop(struct view *v, struct node *n, uint64_t lookups)
{
	if (!n->parent)
		return;
	n->lookups -= lookups < n->lookups ? (uint32_t)lookups : n->lookups;
	node_settle(&v->nodes, n);
}

/* --- what a node stands for ----------------------------------------------- */

const char *view_fd_text(int fd, char buf[VIEW_FD_TEXT_MAX])
{
	snprintf(buf, VIEW_FD_TEXT_MAX, "%d", fd);
	return buf;
}

int view_reopen(struct view *v, int fd, int flags)
{
	char text[VIEW_FD_TEXT_MAX];

	return openat(v->proc, view_fd_text(fd, text), flags | O_CLOEXEC);
}

/* Of a file that has no name any more, or another file's: while it is open. */
static int grab_open(struct node *n, int *out_fd, struct statx *x)
{
	for (struct handle *h = n->open; h; h = h->next) {
		if (h->fd < 0 || view_look(h->fd, "", x) || !view_is_same(n, x))
			continue;
		*out_fd = fcntl(h->fd, F_DUPFD_CLOEXEC, 3);
		return *out_fd < 0 ? errno : 0;
	}
	return ESTALE;
}

/* By its name, and then by what it is. */
int view_open_named(struct view *v, struct node *n, int flags, int *out_fd,
		    struct statx *x)
{
	int fd = openat(n->parent->fd, n->name, flags | O_NOFOLLOW | O_CLOEXEC);
	struct hidden_file f;
	int rc;

	if (fd < 0)
		return errno == ENOENT || errno == ELOOP ? ESTALE : errno;
	rc = view_look(fd, "", x);
	f = view_identity(x);
	if (rc == 0 &&
	    (!view_is_same(n, x) ||
	     (n->word.state < JUDGE_PROTECTED && hidden_has(&v->hidden, &f))))
		rc = ESTALE;
	if (rc)
		close(fd);
	else
		*out_fd = fd;
	return rc;
}

int view_grab(struct view *v, struct node *n, int *out_fd, struct statx *x)
{
	int rc;

	if (n->aside)
		return ESTALE;
	if (n->fd >= 0) {
		rc = view_look(n->fd, "", x);
		*out_fd = n->fd;
		return rc;
	}
	rc = refresh_node(v, n);
	if (rc == 0)
		rc = view_open_named(v, n, O_PATH, out_fd, x);
	if (rc == ESTALE && n->open)
		rc = grab_open(n, out_fd, x);
	return rc;
}

void view_release_fd(const struct node *n, int fd)
{
	if (fd >= 0 && fd != n->fd)
		close(fd);
}
