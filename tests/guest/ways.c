/* What everybody does, by calls and numbers that few programs use. */
#define _GNU_SOURCE
#include "agent.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/reboot.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define X32	  0x40000000L
#define FCHMODAT2 452

void numbers(void)
{
	/* The kernel looks at 32 bits of the register. */
	ignore(syscall((long)(0x100000000LL | SYS_mkdirat), AT_FDCWD, "by-wide",
		       0700));
#ifdef __x86_64__
	if (syscall(X32 | SYS_mkdirat, AT_FDCWD, "by-x32", 0700) == 0)
		works('x');
#endif
}

/* --- files ---------------------------------------------------------------- */

static void files(void)
{
	char at[40];
	int fd = open(".", O_TMPFILE | O_WRONLY, 0600);

	/* A file that has no name, and then has one. */
	snprintf(at, sizeof(at), "/proc/self/fd/%d", fd);
	if (fd >= 0 && linkat(AT_FDCWD, at, AT_FDCWD, "by-tmpfile",
			      AT_SYMLINK_FOLLOW) == 0)
		works('t');
	close(fd);
	make("by-ways");
	ignore(syscall(FCHMODAT2, AT_FDCWD, "by-ways", 0611, 0));
}

/* --- programs ------------------------------------------------------------- */

static int copy_of(const char *self)
{
	int from = open(self, O_RDONLY), to = memfd_create("copy", 0);

	while (sendfile(to, from, NULL, 1 << 20) > 0)
		;
	close(from);
	return to;
}

static void *exec_in_thread(void *self)
{
	char *v[] = {self, (char *)"exit", (char *)"9", NULL};

	execv(self, v);
	return NULL;
}

static void programs(const char *self)
{
	char *from_memory[] = {(char *)"copy", (char *)"exit", (char *)"8",
			       NULL};
	char *quick[] = {(char *)self, (char *)"exit", (char *)"10", NULL};
	char *none[] = {NULL};
	pthread_t thread;
	int fd = copy_of(self);

	if (fork() == 0) {
		syscall(SYS_execveat, fd, "", from_memory, none, AT_EMPTY_PATH);
		_exit(127);
	}
	close(fd);
	if (fork() == 0) {
		pthread_create(&thread, NULL, exec_in_thread, (void *)self);
		pthread_join(thread, NULL);
		_exit(127);
	}
	if (vfork() == 0) {
		execv(self, quick);
		_exit(127);
	}
	while (wait(NULL) > 0)
		;
}

/* --- sockets -------------------------------------------------------------- */

static void datagrams(void)
{
	static const int ports[] = {9971, 9971, 9972, 9973};
	struct sockaddr_in a[4], one = at_port(9974);
	struct sockaddr nowhere = {.sa_family = AF_UNSPEC};
	struct iovec v = {(char *)"x", 1};
	struct mmsghdr several[4] = {0};
	int s = socket(AF_INET, SOCK_DGRAM, 0);
	int t = socket(AF_INET, SOCK_DGRAM, 0);

	for (int i = 0; i < 4; i++) {
		a[i] = at_port(ports[i]);
		several[i].msg_hdr =
			(struct msghdr){&a[i], sizeof(a[i]), &v, 1, NULL, 0, 0};
	}
	ignore(sendmmsg(s, several, 4, 0));
	ignore(connect(t, (struct sockaddr *)&one, sizeof(one)));
	ignore(connect(t, &nowhere, sizeof(nowhere)));
	close(s);
	close(t);
}

/* Sends that connect: TCP Fast Open. */
static void streams(void)
{
	struct sockaddr_in a = at_port(4341), closed = at_port(4342);
	struct iovec v = {(char *)"x", 1};
	struct msghdr m = {&closed, sizeof(closed), &v, 1, NULL, 0, 0};
	int s = socket(AF_INET, SOCK_STREAM, 0);
	int c = socket(AF_INET, SOCK_STREAM, 0);
	int d = socket(AF_INET, SOCK_STREAM, 0);

	ignore(bind(s, (struct sockaddr *)&a, sizeof(a)));
	ignore(listen(s, 8));
	ignore(sendto(c, "x", 1, MSG_FASTOPEN, (struct sockaddr *)&a,
		      sizeof(a)));
	ignore(sendmsg(d, &m, MSG_FASTOPEN | MSG_NOSIGNAL));
	close(c);
	close(d);
	close(s);
}

/* --- a race --------------------------------------------------------------- */

static struct sockaddr_in moving;
static volatile int go_on = 1;

static void *move(void *unused)
{
	while (go_on)
		for (int port = 4361; port <= 4362; port++)
			__atomic_store_n(&moving.sin_port,
					 htons((uint16_t)port),
					 __ATOMIC_RELAXED);
	return unused;
}

static volatile int closing = 1, begun;

static void *close_all(void *fd)
{
	begun = 1;
	while (closing)
		close(*(int *)fd);
	return NULL;
}

/* Another thread closes what is opened, often before the call has ended. */
static void closed(void)
{
	int next = socket(AF_UNIX, SOCK_STREAM, 0);
	pthread_t thread;

	close(next);
	if (pthread_create(&thread, NULL, close_all, &next) != 0)
		return;
	while (!begun)
		sched_yield();
	for (int i = 0; i < 500; i++) {
		ignore(open("raced-open", O_CREAT | O_RDONLY, 0600));
		while (fcntl(next, F_GETFD) >= 0)
			sched_yield();
	}
	closing = 0;
	pthread_join(thread, NULL);
}

static int listener(int port)
{
	struct sockaddr_in a = at_port(port);
	int s = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

	ignore(bind(s, (struct sockaddr *)&a, sizeof(a)));
	ignore(listen(s, 7));
	return s;
}

/* Another thread changes the port all the time: how many connections came to
 * each is in the name of a file. */
static void race(void)
{
	int s[2] = {listener(4361), listener(4362)}, came[2] = {0};
	char text[40];
	pthread_t thread;

	moving = at_port(4361);
	if (pthread_create(&thread, NULL, move, NULL) != 0)
		return;
	for (int i = 0; i < 200; i++) {
		int c = socket(AF_INET, SOCK_STREAM, 0);

		ignore(connect(c, (struct sockaddr *)&moving, sizeof(moving)));
		for (int k = 0; k < 2; k++) {
			int got = accept(s[k], NULL, NULL);

			came[k] += got >= 0;
			close(got);
		}
		close(c);
	}
	go_on = 0;
	pthread_join(thread, NULL);
	snprintf(text, sizeof(text), "joined-%d-%d", came[0], came[1]);
	make(text);
}

/* --- attempts ------------------------------------------------------------- */

static void mounts(void)
{
	struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};
	int fd;

	ignore(syscall(SYS_fsopen, "tmpfs", 0));
	ignore(syscall(SYS_fsconfig, -1, FSCONFIG_SET_FLAG, "ro", NULL, 0));
	ignore(syscall(SYS_fspick, AT_FDCWD, "folder", 0));
	ignore(syscall(SYS_fsmount, -1, 0, 0));
	fd = (int)syscall(SYS_open_tree, AT_FDCWD, "folder", 0);
	ignore(syscall(SYS_move_mount, fd, "", AT_FDCWD, "folder",
		       MOVE_MOUNT_F_EMPTY_PATH));
	ignore(syscall(SYS_mount_setattr, AT_FDCWD, "folder", 0, &attr,
		       sizeof(attr)));
	close(fd);
}

static void attempts(void)
{
	struct clone_args args = {.flags = CLONE_NEWNET,
				  .exit_signal = SIGCHLD};

	ignore(syscall(SYS_clone, CLONE_NEWUTS | SIGCHLD, NULL, NULL, NULL, 0));
	ignore(syscall(SYS_clone3, &args, sizeof(args)));
	ignore(syscall(SYS_pidfd_getfd, -1, 0, 0));
	ignore(syscall(SYS_acct, "by-ways"));
	ignore(syscall(SYS_swapon, "by-ways", 0));
	ignore(syscall(SYS_swapoff, "by-ways"));
	ignore(syscall(SYS_reboot, 0xfee1dead, 672274793, RB_ENABLE_CAD, NULL));
#ifdef __x86_64__
	ignore(syscall(SYS_iopl, 3));
	ignore(syscall(SYS_ioperm, 0x80, 1, 1));
#endif
	ignore(syscall(SYS_add_key, "user", "a-key", "x", 1, 0));
	ignore(syscall(SYS_request_key, "user", "no-key", NULL, 0));
	ignore(syscall(SYS_keyctl, 0x77));
	ignore(syscall(SYS_quotactl, -1, "by-ways", 0, NULL));
}

void ways(const char *self)
{
	files();
	programs(self);
	datagrams();
	streams();
	closed();
	race();
	mounts();
	attempts();
}
