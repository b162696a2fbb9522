/* What an io_uring does, without a system call for it. */
#define _GNU_SOURCE
#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct ring {
	int fd;
	char *at;
	struct io_uring_sqe *sqes;
	struct io_uring_params p;
};

static bool ring_open(struct worker *w, struct ring *r)
{
	memset(r, 0, sizeof(*r));
	r->fd = (int)DO(w, io_uring_setup, 4, (long)&r->p);
	if (r->fd < 0)
		return false;
	r->at = mmap(NULL, 4096 * 4, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_POPULATE, r->fd, IORING_OFF_SQ_RING);
	r->sqes = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_POPULATE, r->fd, IORING_OFF_SQES);
	return r->at != MAP_FAILED && r->sqes != MAP_FAILED;
}

static void ring_close(struct ring *r)
{
	munmap(r->at, 4096 * 4);
	munmap(r->sqes, 4096);
	close(r->fd);
}

static int ring_do(struct ring *r, const struct io_uring_sqe *sqe)
{
	unsigned *tail = (unsigned *)(r->at + r->p.sq_off.tail);
	unsigned *array = (unsigned *)(r->at + r->p.sq_off.array);
	unsigned *head = (unsigned *)(r->at + r->p.cq_off.head);
	unsigned mask = *(unsigned *)(r->at + r->p.cq_off.ring_mask);
	struct io_uring_cqe *cqes = (void *)(r->at + r->p.cq_off.cqes);
	int res;

	r->sqes[0] = *sqe;
	array[*tail & 3] = 0;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, r->fd, 1, 1, IORING_ENTER_GETEVENTS,
		    NULL, 0) < 0)
		return -errno;
	res = cqes[*head & mask].res;
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	return res;
}

/* Put down as the call that does the same: its two paths are where that one
 * has them. */
struct act {
	enum call_name name;
	int op, first, second; /* arguments; -1: none */
};

static const struct act deeds[] = {
	{CALL_openat, IORING_OP_OPENAT, 1, -1},
	{CALL_unlinkat, IORING_OP_UNLINKAT, 1, -1},
	{CALL_mkdirat, IORING_OP_MKDIRAT, 1, -1},
	{CALL_renameat2, IORING_OP_RENAMEAT, 1, 3},
	{CALL_linkat, IORING_OP_LINKAT, 1, 3},
	{CALL_symlinkat, IORING_OP_SYMLINKAT, 0, 2},
};

static void put(struct worker *w, int at, const char *path)
{
	account_text(&w->account, ITEM_TEXT, at, path);
	if (at > 0)
		w->account.head.args[at - 1] = AT_FDCWD;
	work_found(w, at, AT_FDCWD, path);
}

static const char *a_path(struct worker *w, int i)
{
	const char *path = pick_path(w, i);

	/* What leads nowhere is refused before it is a request; of two names
	 * that are that long it is not told how it went. */
	if (path < w->text[i] || path >= w->text[i] + WORK_TEXT ||
	    (i && strlen(path) > 1000)) {
		strcpy(w->text[i], "made");
		path = w->text[i];
	}
	return path;
}

static void deed(struct worker *w, struct ring *r)
{
	const struct act *d = &deeds[pick(w, 6)];
	struct io_uring_sqe sqe = {.opcode = (uint8_t)d->op, .fd = AT_FDCWD};
	const char *one = a_path(w, 0), *two = a_path(w, 1);
	struct account *a = &w->account;

	sqe.addr = (uintptr_t)one;
	if (d->second >= 0)
		sqe.addr2 = (uintptr_t)two;
	if (d->op == IORING_OP_RENAMEAT || d->op == IORING_OP_LINKAT)
		sqe.len = (uint32_t)AT_FDCWD;
	if (d->op == IORING_OP_OPENAT || d->op == IORING_OP_MKDIRAT)
		sqe.len = 0600;
	if (d->op == IORING_OP_OPENAT)
		sqe.open_flags =
			(rare(w, 2) ? O_CREAT : 0) | O_NONBLOCK | (pick(w, 3));
	if (rare(w, 3))
		sqe.flags = IOSQE_ASYNC;
	account_begin(a, ACCOUNT_CALL);
	work_where(w);
	a->head.nr = d->name;
	put(w, d->first, one);
	if (d->second >= 0)
		put(w, d->second, two);
	account_item(a, ITEM_RING, 0, NULL, 0);
	if (d->op == IORING_OP_OPENAT)
		a->head.args[2] = sqe.open_flags;
	account_now(a);
	a->head.ret = ring_do(r, &sqe);
	a->head.after_ns = account_clock();
	a->head.cpu_after = -1;
	if (d->op == IORING_OP_OPENAT && a->head.ret >= 0) {
		work_fd(w, 0xfffe, (int)a->head.ret);
		work_file(w, (int)a->head.ret);
	}
	account_end(a);
	if (d->op == IORING_OP_OPENAT && a->head.ret >= 0)
		keep(w, w->files, a->head.ret);
}

void do_ring(struct worker *w)
{
	struct ring r;
	uint32_t n = 1 + pick(w, 6);

	if (!ring_open(w, &r))
		return;
	while (n-- > 0)
		deed(w, &r);
	ring_close(&r);
}
