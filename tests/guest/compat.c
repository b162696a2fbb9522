/*
 * Calls as 32-bit programs make them. On x86-64 by int $0x80, which 64-bit ones
 * can, too; what they point to has to be below 4 GB: in static memory of a
 * static program. On arm64 by a program of its own, this agent built for 32
 * bits.
 */
#define _GNU_SOURCE
#include "agent.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/net.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__arm__)

/* What the call has no second argument for is no part of the event. */
#ifdef __x86_64__
#define UMOUNT_SECOND 0x77
#else
#define UMOUNT_SECOND 0
#endif
#define AT(object) ((uint32_t)(uintptr_t)(object))
#define CWD	   ((uint32_t)AT_FDCWD)

/* arch/x86/entry/syscalls/syscall_32.tbl, arch/arm/tools/syscall.tbl */
enum {
	N_OPEN = 5,
	N_CLOSE = 6,
	N_CREAT = 8,
	N_LINK = 9,
	N_UNLINK = 10,
	N_MKNOD = 14,
	N_CHMOD = 15,
	N_MOUNT = 21,
	N_PTRACE = 26,
	N_RENAME = 38,
	N_MKDIR = 39,
	N_RMDIR = 40,
	N_SYMLINK = 83,
	N_FTRUNCATE = 93,
	N_FCHMOD = 94,
	N_CHOWN = 182,
	N_TRUNCATE64 = 193,
	N_CHOWN32 = 212,
	N_OPENAT2 = 437,
#ifdef __x86_64__
	N_UMOUNT = 22, /* without flags */
	N_SOCKETCALL = 102,
	N_OPENAT = 295,
	N_UNLINKAT = 301,
	N_SENDMMSG = 345,
	N_SOCKET = 359,
	N_CONNECT = 362,
	N_SENDMSG = 370,
#else
	N_UMOUNT = 52,
	N_SOCKET = 281,
	N_BIND = 282,
	N_CONNECT = 283,
	N_LISTEN = 284,
	N_ACCEPT = 285,
	N_SENDTO = 290,
	N_SENDMSG = 296,
	N_OPENAT = 322,
	N_UNLINKAT = 328,
	N_SENDMMSG = 374,
#endif
};

struct iovec32 {
	uint32_t base, bytes;
};
struct msghdr32 {
	uint32_t name;
	int32_t name_bytes;
	uint32_t iov, n_iov, control, control_bytes, flags;
};
struct mmsghdr32 {
	struct msghdr32 h;
	uint32_t sent;
};

#ifdef __x86_64__
static int call(uint32_t nr, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	/* More than 32 bits: the kernel does not look at them. */
	long result = (long)(0x100000000 | nr);

	__asm__ volatile("int $0x80"
			 : "+a"(result)
			 : "b"((long)a), "c"((long)b), "d"((long)c),
			   "S"((long)d), "D"(0L)
			 : "memory", "r8", "r9", "r10", "r11");
	return (int)result;
}

static int socketcall(uint32_t which, uint32_t a, uint32_t b, uint32_t c,
		      uint32_t d, uint32_t e, uint32_t f)
{
	static uint32_t args[6];

	memcpy(args, (uint32_t[]){a, b, c, d, e, f}, sizeof(args));
	return call(N_SOCKETCALL, which, AT(args), 0, 0);
}

static void truncate_at(const char *path, uint32_t low, uint32_t high)
{
	call(N_TRUNCATE64, AT(path), low, high, 0);
}
#else
static int call(uint32_t nr, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	return (int)syscall((long)nr, a, b, c, d);
}

/* Here each has a number. */
static int socketcall(uint32_t which, uint32_t a, uint32_t b, uint32_t c,
		      uint32_t d, uint32_t e, uint32_t f)
{
	static const long numbers[] = {
		[SYS_SOCKET] = N_SOCKET,   [SYS_BIND] = N_BIND,
		[SYS_CONNECT] = N_CONNECT, [SYS_LISTEN] = N_LISTEN,
		[SYS_ACCEPT] = N_ACCEPT,   [SYS_SENDTO] = N_SENDTO,
	};

	return (int)syscall(numbers[which], a, b, c, d, e, f);
}

/* 64 bits are in a pair of registers, the first of which is even. */
static void truncate_at(const char *path, uint32_t low, uint32_t high)
{
	call(N_TRUNCATE64, AT(path), 0, low, high);
}
#endif

static void files(void)
{
	static const char name[] = "by-compat", in[] = "compat/in",
			  moved[] = "compat/moved", hard[] = "compat/hard",
			  soft[] = "compat/soft", folder[] = "compat",
			  other[] = "compat/other", fifo[] = "compat/fifo";
	static uint64_t how[3] = {O_RDONLY};
	int fd;

	call(N_CLOSE,
	     (uint32_t)call(N_OPEN, AT(name), O_CREAT | O_RDWR, 0600, 0), 0, 0,
	     0);
	call(N_MKDIR, AT(folder), 0700, 0, 0);
	fd = call(N_OPENAT, CWD, AT(in), O_CREAT | O_WRONLY, 0600);
	call(N_FCHMOD, (uint32_t)fd, 0640, 0, 0);
	call(N_FTRUNCATE, (uint32_t)fd, 7, 0, 0);
	call(N_CLOSE, (uint32_t)fd, 0, 0, 0);
	call(N_CLOSE, (uint32_t)call(N_CREAT, AT(other), 0600, 0, 0), 0, 0, 0);
	call(N_CLOSE,
	     (uint32_t)call(N_OPENAT2, CWD, AT(in), AT(how), sizeof(how)), 0, 0,
	     0);
	call(N_RENAME, AT(in), AT(moved), 0, 0);
	call(N_LINK, AT(moved), AT(hard), 0, 0);
	call(N_SYMLINK, AT(moved), AT(soft), 0, 0);
	call(N_MKNOD, AT(fifo), S_IFIFO | 0600, 0, 0);
	call(N_CHMOD, AT(hard), 0604, 0, 0);
	call(N_CHOWN, AT(hard), 0xffff, 1000, 0);
	call(N_CHOWN32, AT(hard), 1000, 0xffffffff, 0);
	truncate_at(hard, 5, 1); /* 4 GB and 5 bytes */
	call(N_UNLINK, AT(soft), 0, 0, 0);
	call(N_UNLINKAT, CWD, AT(hard), 0, 0);
	call(N_RMDIR, AT(folder), 0, 0, 0);
}

static void streams(void)
{
	static struct sockaddr_in a, closed;
	int s = socketcall(SYS_SOCKET, AF_INET, SOCK_STREAM, 0, 0, 0, 0);
	int c = call(N_SOCKET, AF_INET, SOCK_STREAM, 0, 0);

	a = at_port(4331);
	closed = at_port(4332);
	socketcall(SYS_BIND, (uint32_t)s, AT(&a), sizeof(a), 0, 0, 0);
	socketcall(SYS_LISTEN, (uint32_t)s, 9, 0, 0, 0, 0);
	call(N_CONNECT, (uint32_t)c, AT(&a), sizeof(a), 0);
	close(socketcall(SYS_ACCEPT, (uint32_t)s, 0, 0, 0, 0, 0));
	close(c);
	c = call(N_SOCKET, AF_INET, SOCK_STREAM, 0, 0);
	socketcall(SYS_CONNECT, (uint32_t)c, AT(&closed), sizeof(closed), 0, 0,
		   0);
	close(c);
	close(s);
}

static void datagrams(void)
{
	static struct sockaddr_in a, dns, far[3];
	static char text[64];
	static struct iovec32 v;
	static struct msghdr32 h;
	static struct mmsghdr32 several[3];
	uint32_t s = (uint32_t)socketcall(SYS_SOCKET, AF_INET, SOCK_DGRAM, 0, 0,
					  0, 0);

	a = at_port(9981);
	dns = at_port(53);
	v = (struct iovec32){AT(text), (uint32_t)question(text, "narrow")};
	h = (struct msghdr32){AT(&dns), sizeof(dns), AT(&v), 1, 0, 0, 0};
	socketcall(SYS_SENDTO, s, AT("x"), 1, 0, AT(&a), sizeof(a));
	call(N_SENDMSG, s, AT(&h), 0, 0);
	for (int i = 0; i < 3; i++) {
		far[i] = at_port(9982 + i);
		several[i].h = h;
		several[i].h.name = AT(&far[i]);
	}
	call(N_SENDMMSG, s, AT(several), 3, 0);
	close((int)s);
}

static void narrow(void)
{
	static const char none[] = "none", at[] = "folder", type[] = "tmpfs";

	files();
	streams();
	datagrams();
	call(N_MOUNT, AT(none), AT(at), AT(type), 0);
	call(N_UMOUNT, AT(at), UMOUNT_SECOND, 0, 0);
	call(N_PTRACE, 16, 0x3ffffe, 0, 0); /* nobody */
}

#endif

#ifdef __arm__

void compat(void)
{
	narrow();
}

#else

/* Without such calls it does not come back. */
static int child(void)
{
#ifdef __x86_64__
	narrow();
	return 0;
#else
	char path[256];

	snprintf(path, sizeof(path), "%s32", program_invocation_name);
	execl(path, path, "narrow", NULL);
	return 127;
#endif
}

void compat(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(child());
	if (waitpid(pid, &status, 0) == pid && status == 0)
		make("compat-is-there");
}

#endif
