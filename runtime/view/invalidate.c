/*
 * What the host changes, told to the kernel that has it from us: it asks anew.
 */
#include "runtime/view/view.h"

#include "compiler/base/buf.h"

#include <limits.h>
#include <linux/fuse.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/uio.h>
#include <unistd.h>

/* Beginning with an event, of which each has room for a name. */
#define EVENTS_SIZE 65536

/* --- one change ----------------------------------------------------------- */

/* What the kernel has to forget; 0: nothing. */
struct stale {
	fuse_ino_t dir;	 /* what it says of itself */
	fuse_ino_t file; /* the same */
	fuse_ino_t in;	 /* in this folder the event's name */
};

static bool is_known(const struct node *n, const struct statx *x)
{
	return n->changed_s == x->stx_ctime.tv_sec &&
	       n->changed_ns == x->stx_ctime.tv_nsec;
}

/*
 * What the agent changes is heard of, too: its kernel knows that already, and
 * the node says so.
 */
static struct stale judge_event(struct view *v, const struct inotify_event *e)
{
	struct node *dir = watches_find(&v->watches, e->wd), *n;
	struct stale s = {0};
	struct statx x;
	bool named = e->mask & (IN_CREATE | IN_DELETE | IN_MOVE);

	if (!dir)
		return s;
	if (e->mask & IN_IGNORED) {
		watches_drop(&v->watches, dir);
		return s;
	}
	if (e->len == 0) {
		s.dir = view_ino(v, dir);
		return s;
	}
	n = node_find(&v->nodes, dir, e->name);
	if (n && view_look(dir->fd, e->name, &x) == 0 && view_is_same(n, &x)) {
		if (!is_known(n, &x))
			s.file = view_ino(v, n);
	} else if (named) {
		s.in = view_ino(v, dir);
		s.dir = s.in;
	}
	return s;
}

/*
 * Without the lock, since the kernel may hold the folder for one who waits for
 * that: the folder may be forgotten by now, and its number another file's. The
 * kernel says so, which is nothing, and which libfuse would print.
 */
static void forget_name(struct view *v, fuse_ino_t in, const char *name)
{
	struct fuse_notify_inval_entry_out what = {
		.parent = in, .namelen = (uint32_t)strlen(name)};
	struct fuse_out_header head = {.error = FUSE_NOTIFY_INVAL_ENTRY};
	const struct iovec all[] = {
		{&head, sizeof(head)},
		{&what, sizeof(what)},
		{(void *)(uintptr_t)name, what.namelen + 1},
	};

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		head.len += (uint32_t)all[i].iov_len;
	ignore(writev(fuse_session_fd(v->session), all, ARRAY_LEN(all)));
}

static void tell_stale(struct view *v, const struct stale *s, const char *name)
{
	if (s->dir)
		fuse_lowlevel_notify_inval_inode(v->session, s->dir, -1, 0);
	if (s->file)
		fuse_lowlevel_notify_inval_inode(v->session, s->file, -1, 0);
	if (s->in)
		forget_name(v, s->in, name);
}

/* --- more than could be heard --------------------------------------------- */

/* "INO NAME\0" of every node, as bytes: they may change once the lock is gone.
 */
static void list_nodes(struct view *v, struct buf *out)
{
	for (uint32_t i = 0; i < v->nodes.size; i++)
		for (struct node *n = v->nodes.buckets[i]; n; n = n->next) {
			fuse_ino_t ino = view_ino(v, n->parent);

			fuse_lowlevel_notify_inval_inode(v->session,
							 view_ino(v, n), -1, 0);
			buf_add(out,
				(struct str){(const char *)&ino, sizeof(ino)});
			buf_add(out,
				(struct str){n->name, strlen(n->name) + 1});
		}
}

static void forget_all(struct view *v)
{
	struct arena *a = arena_new();
	struct buf names;

	buf_init(&names, a);
	pthread_mutex_lock(&v->lock);
	list_nodes(v, &names);
	fuse_lowlevel_notify_inval_inode(v->session, FUSE_ROOT_ID, -1, 0);
	pthread_mutex_unlock(&v->lock);
	for (size_t at = 0; at < names.n;) {
		const char *name = names.p + at + sizeof(fuse_ino_t);
		fuse_ino_t ino;

		memcpy(&ino, names.p + at, sizeof(ino));
		forget_name(v, ino, name);
		at += sizeof(ino) + strlen(name) + 1;
	}
	arena_free(a);
}

/* --- all that there is ---------------------------------------------------- */

static void pass_event(struct view *v, const struct inotify_event *e)
{
	struct stale s;

	if (e->mask & IN_Q_OVERFLOW) {
		forget_all(v);
		return;
	}
	pthread_mutex_lock(&v->lock);
	s = judge_event(v, e);
	pthread_mutex_unlock(&v->lock);
	tell_stale(v, &s, e->name);
}

void invalidate_changed(struct view *v)
{
	static _Alignas(struct inotify_event) char events[EVENTS_SIZE];
	ssize_t n = read(v->watches.fd, events, sizeof(events));

	for (ssize_t at = 0; at < n;) {
		const struct inotify_event *e = (const void *)(events + at);

		pass_event(v, e);
		at += (ssize_t)(sizeof(*e) + e->len);
	}
}
