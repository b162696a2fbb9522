/* What an io_uring does: each operation that has to be in a trace. */
#define _GNU_SOURCE
#include "agent.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* linux/io_uring.h, of later kernels */
#define OP_SEND_ZC    47
#define OP_SENDMSG_ZC 48
#define OP_FTRUNCATE  55
#define OP_BIND	      56
#define OP_LISTEN     57

struct uring {
	int fd;
	char *ring;
	struct io_uring_sqe *sqes;
	struct io_uring_params p;
};

static int uring_open(struct uring *u, unsigned flags)
{
	memset(u, 0, sizeof(*u));
	u->p.flags = flags;
	u->p.sq_thread_idle = 1000;
	u->fd = (int)syscall(SYS_io_uring_setup, 4, &u->p);
	if (u->fd < 0)
		return -1;
	u->ring = mmap(NULL, 4096 * 4, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_POPULATE, u->fd, IORING_OFF_SQ_RING);
	u->sqes = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_POPULATE, u->fd, IORING_OFF_SQES);
	return u->ring == MAP_FAILED || u->sqes == MAP_FAILED ? -1 : 0;
}

/* What the next answer says; *more: another one comes of the same request. */
static int uring_reap(struct uring *u, int *more)
{
	unsigned *head = (unsigned *)(u->ring + u->p.cq_off.head);
	unsigned mask = *(unsigned *)(u->ring + u->p.cq_off.ring_mask);
	struct io_uring_cqe *cqes = (void *)(u->ring + u->p.cq_off.cqes);
	int res = cqes[*head & mask].res;

	*more = (cqes[*head & mask].flags & IORING_CQE_F_MORE) != 0;
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	return res;
}

static int uring_enter(struct uring *u, unsigned n)
{
	return (int)syscall(SYS_io_uring_enter, u->fd, n, 1,
			    IORING_ENTER_GETEVENTS | IORING_ENTER_SQ_WAKEUP,
			    NULL, 0);
}

/* Its result; more than one at a time is not needed. */
static int uring_do(struct uring *u, struct io_uring_sqe sqe)
{
	unsigned *tail = (unsigned *)(u->ring + u->p.sq_off.tail);
	unsigned mask = *(unsigned *)(u->ring + u->p.sq_off.ring_mask);
	unsigned *array = (unsigned *)(u->ring + u->p.sq_off.array);
	int res, more;

	u->sqes[*tail & mask] = sqe;
	array[*tail & mask] = *tail & mask;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	if (uring_enter(u, 1) < 0)
		return -errno;
	res = uring_reap(u, &more);
	/* That its memory is free again. */
	if (more && sqe.opcode != IORING_OP_ACCEPT && uring_enter(u, 0) >= 0)
		uring_reap(u, &more);
	return res;
}

static void basics(void)
{
	struct sockaddr_in a = at_port(4323);
	struct uring u;
	int c, fd;

	if (uring_open(&u, 0) < 0)
		return;
	fd = uring_do(&u,
		      (struct io_uring_sqe){.opcode = IORING_OP_OPENAT,
					    .fd = AT_FDCWD,
					    .addr = (uintptr_t) "by-ring",
					    .len = 0600,
					    .open_flags = O_CREAT | O_RDWR});
	if (fd >= 0)
		close(fd);
	/* A worker of the ring's does this one. */
	fd = uring_do(&u,
		      (struct io_uring_sqe){.opcode = IORING_OP_OPENAT,
					    .flags = IOSQE_ASYNC,
					    .fd = AT_FDCWD,
					    .addr = (uintptr_t) "by-worker",
					    .len = 0600,
					    .open_flags = O_CREAT | O_RDWR});
	if (fd >= 0)
		close(fd);
	uring_do(&u, (struct io_uring_sqe){.opcode = IORING_OP_RENAMEAT,
					   .fd = AT_FDCWD,
					   .addr = (uintptr_t) "by-ring",
					   .len = (uint32_t)AT_FDCWD,
					   .addr2 = (uintptr_t) "ring-moved"});
	uring_do(&u, (struct io_uring_sqe){.opcode = IORING_OP_UNLINKAT,
					   .fd = AT_FDCWD,
					   .addr = (uintptr_t) "by-worker"});
	c = socket(AF_INET, SOCK_STREAM, 0);
	uring_do(&u, (struct io_uring_sqe){.opcode = IORING_OP_CONNECT,
					   .fd = c,
					   .addr = (uintptr_t)&a,
					   .off = sizeof(a)});
	close(c);
	close(u.fd);
}

/* A thread of the kernel's takes what is asked: nobody makes a call. */
static void polled(void)
{
	struct uring u;
	int fd;

	if (uring_open(&u, IORING_SETUP_SQPOLL) < 0)
		return;
	fd = uring_do(&u,
		      (struct io_uring_sqe){.opcode = IORING_OP_OPENAT,
					    .fd = AT_FDCWD,
					    .addr = (uintptr_t) "by-poller",
					    .len = 0600,
					    .open_flags = O_CREAT | O_RDWR});
	if (fd >= 0)
		works('p');
	close(fd);
	close(u.fd);
}

static void names(struct uring *u)
{
	static const struct {
		uint64_t flags, mode, resolve;
	} how = {O_CREAT | O_WRONLY, 0600, 0};
	int fd = uring_do(u,
			  (struct io_uring_sqe){.opcode = IORING_OP_OPENAT2,
						.fd = AT_FDCWD,
						.addr = (uintptr_t) "ring-two",
						.len = sizeof(how),
						.off = (uintptr_t)&how});

	if (uring_do(u, (struct io_uring_sqe){.opcode = OP_FTRUNCATE,
					      .fd = fd,
					      .off = 9}) == 0)
		works('f');
	close(fd);
	uring_do(u, (struct io_uring_sqe){.opcode = IORING_OP_LINKAT,
					  .fd = AT_FDCWD,
					  .addr = (uintptr_t) "ring-two",
					  .len = (uint32_t)AT_FDCWD,
					  .addr2 = (uintptr_t) "ring-hard"});
	uring_do(u, (struct io_uring_sqe){.opcode = IORING_OP_SYMLINKAT,
					  .fd = AT_FDCWD,
					  .addr = (uintptr_t) "ring-two",
					  .addr2 = (uintptr_t) "ring-soft"});
	uring_do(u, (struct io_uring_sqe){.opcode = IORING_OP_MKDIRAT,
					  .fd = AT_FDCWD,
					  .addr = (uintptr_t) "ring-folder",
					  .len = 0700});
}

static void datagrams(struct uring *u)
{
	struct sockaddr_in a = at_port(9961), b = at_port(9962),
			   c = at_port(9963);
	struct iovec v = {(char *)"x", 1};
	struct msghdr m = {&a, sizeof(a), &v, 1, NULL, 0, 0};
	int s = socket(AF_INET, SOCK_DGRAM, 0);

	uring_do(u, (struct io_uring_sqe){.opcode = IORING_OP_SENDMSG,
					  .fd = s,
					  .addr = (uintptr_t)&m,
					  .len = 1});
	close(s);
	s = socket(AF_INET, SOCK_DGRAM, 0);
	m.msg_name = &b;
	if (uring_do(u, (struct io_uring_sqe){.opcode = OP_SENDMSG_ZC,
					      .fd = s,
					      .addr = (uintptr_t)&m,
					      .len = 1}) == 1)
		works('m');
	close(s);
	s = socket(AF_INET, SOCK_DGRAM, 0);
	if (uring_do(u, (struct io_uring_sqe){.opcode = OP_SEND_ZC,
					      .fd = s,
					      .addr = (uintptr_t) "x",
					      .len = 1,
					      .addr2 = (uintptr_t)&c,
					      .addr_len = sizeof(c)}) == 1)
		works('z');
	close(s);
}

static void streams(struct uring *u)
{
	struct sockaddr_in a = at_port(4351), b = at_port(4352);
	struct iovec v = {(char *)"x", 1};
	struct msghdr m = {&b, sizeof(b), &v, 1, NULL, 0, 0};
	int s = socket(AF_INET, SOCK_STREAM, 0);
	int c = socket(AF_INET, SOCK_STREAM, 0);

	if (uring_do(u, (struct io_uring_sqe){.opcode = OP_BIND,
					      .fd = s,
					      .addr = (uintptr_t)&a,
					      .addr2 = sizeof(a)}) == 0)
		works('b');
	if (uring_do(u, (struct io_uring_sqe){
				.opcode = OP_LISTEN, .fd = s, .len = 6}) == 0)
		works('l');
	uring_do(u, (struct io_uring_sqe){.opcode = IORING_OP_SENDMSG,
					  .fd = c,
					  .addr = (uintptr_t)&m,
					  .len = 1,
					  .msg_flags =
						  MSG_FASTOPEN | MSG_NOSIGNAL});
	close(c);
	close(s);
}

/* One request, several connections. */
static void several(struct uring *u)
{
	struct sockaddr_in a = at_port(4353);
	int s = socket(AF_INET, SOCK_STREAM, 0), c[2];

	ignore(bind(s, (struct sockaddr *)&a, sizeof(a)));
	ignore(listen(s, 5));
	for (int i = 0; i < 2; i++) {
		c[i] = socket(AF_INET, SOCK_STREAM, 0);
		ignore(connect(c[i], (struct sockaddr *)&a, sizeof(a)));
	}
	if (uring_do(u, (struct io_uring_sqe){
				.opcode = IORING_OP_ACCEPT,
				.fd = s,
				.ioprio = IORING_ACCEPT_MULTISHOT}) >= 0)
		works('a');
	for (int i = 0; i < 2; i++)
		close(c[i]);
	close(s);
}

void uring(void)
{
	struct uring u;

	basics();
	polled();
	if (uring_open(&u, 0) < 0)
		return;
	names(&u);
	datagrams(&u);
	streams(&u);
	several(&u);
	close(u.fd);
}
