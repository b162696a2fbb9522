/*
 * Requests of the kernel's that libfuse may not know yet, read and answered
 * here: statx(2), for the time of birth, and O_TMPFILE.
 */
#include "runtime/view/view.h"

#include <errno.h>
#include <linux/fuse.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* FUSE 7.37 and 7.39, which the headers that this is built with may not have.
 */
#define OPCODE_TMPFILE 51
#define OPCODE_STATX   52

/* Of an answer, which begins with its head. False: nobody waits for it any
 * more. */
static bool reply(const struct view *v, void *answer,
		  const struct fuse_in_header *to, int rc, size_t size)
{
	struct fuse_out_header head = {.unique = to->unique, .error = -rc};

	if (rc)
		size = sizeof(head);
	head.len = (uint32_t)size;
	memcpy(answer, &head, sizeof(head));
	return write(fuse_session_fd(v->session), answer, size) ==
	       (ssize_t)size;
}

/* --- statx(2) ------------------------------------------------------------- */

struct statx_request {
	struct fuse_in_header head;
	uint32_t flags; /* FUSE_GETATTR_FH */
	uint32_t unused;
	uint64_t handle;
	uint32_t statx_flags, statx_mask;
};

struct moment {
	int64_t s;
	uint32_t ns;
	int32_t unused;
};

struct statx_answer {
	struct fuse_out_header head;
	uint64_t valid_s;
	uint32_t valid_ns;
	uint32_t flags;
	uint64_t unused[2];
	uint32_t mask, block_size;
	uint64_t attributes;
	uint32_t links, uid, gid;
	uint16_t mode, unused_mode;
	uint64_t ino, size, blocks, attributes_mask;
	struct moment read, born, written, changed;
	uint32_t rdev_major, rdev_minor, dev_major, dev_minor;
	uint64_t more[14];
};

_Static_assert(sizeof(struct statx_request) ==
		       sizeof(struct fuse_in_header) + 24,
	       "a request as the kernel writes it");
_Static_assert(sizeof(struct statx_answer) ==
		       sizeof(struct fuse_out_header) + 288,
	       "an answer as the kernel reads it");

static struct moment moment_of(struct timespec t)
{
	return (struct moment){.s = t.tv_sec, .ns = (uint32_t)t.tv_nsec};
}

static void fill(struct statx_answer *a, const struct stat *st, double valid_s)
{
	a->valid_s = (uint64_t)valid_s;
	a->mask = STATX_BASIC_STATS;
	a->block_size = (uint32_t)st->st_blksize;
	a->links = (uint32_t)st->st_nlink;
	a->uid = st->st_uid;
	a->gid = st->st_gid;
	a->mode = (uint16_t)st->st_mode;
	a->ino = st->st_ino;
	a->size = (uint64_t)st->st_size;
	a->blocks = (uint64_t)st->st_blocks;
	a->read = moment_of(st->st_atim);
	a->written = moment_of(st->st_mtim);
	a->changed = moment_of(st->st_ctim);
	a->rdev_major = major(st->st_rdev);
	a->rdev_minor = minor(st->st_rdev);
}

/* When what is hidden, or stands aside, was born is nobody's to know. */
static void fill_birth(struct statx_answer *a, const struct node *n,
		       const struct statx *x)
{
	if (n->word.state == JUDGE_HIDDEN || n->aside ||
	    !(x->stx_mask & STATX_BTIME))
		return;
	a->mask |= STATX_BTIME;
	a->born = (struct moment){.s = x->stx_btime.tv_sec,
				  .ns = x->stx_btime.tv_nsec};
}

static void answer_statx(struct view *v, const struct statx_request *r)
{
	struct handle *h = r->flags & FUSE_GETATTR_FH
				   ? (struct handle *)(uintptr_t)r->handle
				   : NULL;
	struct statx_answer a = {0};
	double valid_s = 0;
	struct statx x;
	struct stat st;
	struct node *n;
	int rc;

	pthread_mutex_lock(&v->lock);
	n = view_node(v, r->head.nodeid);
	rc = view_attr_of(v, n, h, &x, &st, &valid_s);
	if (rc == 0) {
		fill(&a, &st, valid_s);
		fill_birth(&a, n, &x);
	}
	pthread_mutex_unlock(&v->lock);
	ignore(reply(v, &a, &r->head, rc, sizeof(a)));
}

/* --- O_TMPFILE ------------------------------------------------------------ */

/* A name behind it is nobody's. */
struct tmpfile_request {
	struct fuse_in_header head;
	struct fuse_create_in create;
};

struct tmpfile_answer {
	struct fuse_out_header head;
	struct fuse_entry_out entry;
	struct fuse_open_out open;
};

static struct fuse_attr attr_of(const struct stat *st)
{
	return (struct fuse_attr){.ino = st->st_ino,
				  .size = (uint64_t)st->st_size,
				  .blocks = (uint64_t)st->st_blocks,
				  .atime = (uint64_t)st->st_atim.tv_sec,
				  .mtime = (uint64_t)st->st_mtim.tv_sec,
				  .ctime = (uint64_t)st->st_ctim.tv_sec,
				  .atimensec = (uint32_t)st->st_atim.tv_nsec,
				  .mtimensec = (uint32_t)st->st_mtim.tv_nsec,
				  .ctimensec = (uint32_t)st->st_ctim.tv_nsec,
				  .mode = st->st_mode,
				  .nlink = (uint32_t)st->st_nlink,
				  .uid = st->st_uid,
				  .gid = st->st_gid,
				  .blksize = (uint32_t)st->st_blksize};
}

static int open_unnamed(struct view *v, const struct tmpfile_request *r,
			struct fuse_file_info *fi, struct tmpfile_answer *a)
{
	struct node *n;
	struct statx x;
	struct stat st;
	int rc = view_open_unnamed(v, view_node(v, r->head.nodeid),
				   r->create.mode, fi, &n, &x);

	if (rc)
		return rc;
	view_attr(v, n, &x, &st);
	a->entry.nodeid = view_ino(v, n);
	a->entry.attr_valid = (uint64_t)view_attr_timeout(n, &x);
	a->entry.attr = attr_of(&st);
	a->open.fh = fi->fh;
	if (fi->direct_io)
		a->open.open_flags |= FOPEN_DIRECT_IO;
	return 0;
}

static void answer_tmpfile(struct view *v, const struct tmpfile_request *r)
{
	struct fuse_file_info fi = {.flags = (int)r->create.flags};
	struct tmpfile_answer a = {0};
	int rc;

	pthread_mutex_lock(&v->lock);
	rc = open_unnamed(v, r, &fi, &a);
	pthread_mutex_unlock(&v->lock);
	if (!reply(v, &a, &r->head, rc, sizeof(a)) && rc == 0)
		view_abandon(v, a.entry.nodeid, &fi);
}

bool newer_answer(struct view *v, const struct fuse_buf *request)
{
	struct fuse_in_header head;
	struct tmpfile_request tmpfile;
	struct statx_request statx;

	if (request->flags & FUSE_BUF_IS_FD || request->size < sizeof(head))
		return false;
	memcpy(&head, request->mem, sizeof(head));
	if (head.opcode == OPCODE_STATX && request->size == sizeof(statx)) {
		memcpy(&statx, request->mem, sizeof(statx));
		answer_statx(v, &statx);
		return true;
	}
	if (head.opcode == OPCODE_TMPFILE && request->size >= sizeof(tmpfile)) {
		memcpy(&tmpfile, request->mem, sizeof(tmpfile));
		answer_tmpfile(v, &tmpfile);
		return true;
	}
	return false;
}
