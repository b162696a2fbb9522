/*
 * An agent whose every action is known: agent FOLDER SECRET. Or, of these, only
 * what an io_uring does, or what is done as 32-bit programs do it: agent ring
 * FOLDER, agent compat FOLDER.
 *
 * FOLDER is empty, and may be written to by anybody; SECRET is a path below a
 * folder that only root may enter. Root does what needs it,
 * then user 1000 does the rest; tests/guest/actions.py lists what a trace has
 * to hold of it, each once. Nothing is printed, and nothing that fails ends it
 * early: the trace tells. Static, so that a machine without libraries runs it.
 */
#define _GNU_SOURCE
#include "agent.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

struct sockaddr_in at_port(int port)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
				.sin_port = htons((uint16_t)port),
				.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	return a;
}

static void raise_loopback(void)
{
	struct ifreq r = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	ignore(ioctl(fd, SIOCSIFFLAGS, &r));
	close(fd);
}

static char worked[64] = "worked-";

void works(char what)
{
	worked[strlen(worked)] = what;
}

static void tell_what_worked(void)
{
	make(worked);
}

/* --- files ---------------------------------------------------------------- */

void make(const char *name)
{
	close((int)syscall(SYS_openat, AT_FDCWD, name,
			   O_CREAT | O_WRONLY | O_TRUNC, 0600));
}

static void opens(void)
{
	struct open_how how = {.flags = O_RDWR};
	int dir;

	make("made");
	close((int)syscall(SYS_openat, AT_FDCWD, "made", O_RDONLY));
	close((int)syscall(SYS_openat2, AT_FDCWD, "./made", &how, sizeof(how)));
	ignore(syscall(SYS_openat, AT_FDCWD, "missing", O_RDONLY));
	mkdir("folder", 0700);
	dir = open("folder", O_PATH | O_DIRECTORY);
	close((int)syscall(SYS_openat, dir, "inner", O_CREAT | O_RDWR, 0600));
	ignore(syscall(SYS_openat, AT_FDCWD, "folder", O_WRONLY));
	ignore(syscall(SYS_unlinkat, dir, "inner", 0));
	close(dir);
}

static void names(void)
{
	ignore(syscall(SYS_renameat2, AT_FDCWD, "made", AT_FDCWD,
		       "folder/moved", 0));
	ignore(syscall(SYS_linkat, AT_FDCWD, "folder/moved", AT_FDCWD, "hard",
		       0));
	ignore(syscall(SYS_symlinkat, "folder/moved", AT_FDCWD, "soft"));
	ignore(syscall(SYS_mkdirat, AT_FDCWD, "other", 0700));
	ignore(syscall(SYS_mknodat, AT_FDCWD, "fifo", S_IFIFO | 0600, 0));
	ignore(syscall(SYS_fchmodat, AT_FDCWD, "hard", 0640));
	ignore(syscall(SYS_truncate, "hard", 5L));
	ignore(syscall(SYS_fchownat, AT_FDCWD, "hard", getuid(), getgid(), 0));
	ignore(syscall(SYS_unlinkat, AT_FDCWD, "hard", 0));
	ignore(syscall(SYS_unlinkat, AT_FDCWD, "absent", 0));
	ignore(syscall(SYS_unlinkat, AT_FDCWD, "other", AT_REMOVEDIR));
}

/* --- sockets -------------------------------------------------------------- */

static void streams(void)
{
	struct sockaddr_in a = at_port(4321), closed = at_port(4322);
	struct sockaddr_un un = {AF_UNIX, "folder/socket"};
	int s = socket(AF_INET, SOCK_STREAM, 0);
	int c = socket(AF_INET, SOCK_STREAM, 0);
	int u = socket(AF_UNIX, SOCK_STREAM, 0);

	ignore(bind(s, (struct sockaddr *)&a, sizeof(a)));
	ignore(listen(s, 7));
	ignore(connect(c, (struct sockaddr *)&a, sizeof(a)));
	close((int)syscall(SYS_accept4, s, NULL, NULL, 0));
	close(c);
	c = socket(AF_INET, SOCK_STREAM, 0);
	ignore(connect(c, (struct sockaddr *)&closed, sizeof(closed)));
	ignore(bind(u, (struct sockaddr *)&un, sizeof(un)));
	close(c);
	close(s);
	close(u);
}

/* "WHO.test", type A */
size_t question(char *to, const char *who)
{
	size_t n = strlen(who);

	memcpy(to, "\x12\x34\x01\0\0\1\0\0\0\0\0\0", 12);
	to[12] = (char)n;
	memcpy(to + 13, who, n);
	memcpy(to + 13 + n, "\4test\0\0\1\0\1", 10);
	return 13 + n + 10;
}

static void datagrams(void)
{
	struct sockaddr_in a = at_port(9998), dns = at_port(53);
	char one[64], two[64];
	struct iovec v[2] = {{one, question(one, "first")},
			     {two, question(two, "second")}};
	struct mmsghdr two_of[2] = {
		{.msg_hdr = {&dns, sizeof(dns), &v[0], 1, NULL, 0, 0}},
		{.msg_hdr = {&dns, sizeof(dns), &v[1], 1, NULL, 0, 0}}};
	struct msghdr m = {&a, sizeof(a), &v[0], 1, NULL, 0, 0};
	int s = socket(AF_INET, SOCK_DGRAM, 0);
	int t = socket(AF_INET, SOCK_DGRAM, 0);

	ignore(sendto(s, "x", 1, 0, (struct sockaddr *)&a, sizeof(a)));
	a.sin_port = htons(9997);
	ignore(sendmsg(s, &m, 0));
	ignore(sendmmsg(t, two_of, 2, 0));
	close(s);
	close(t);
}

/* --- a race --------------------------------------------------------------- */

static char raced[] = "race-a";
static volatile bool racing = true;

static void *change(void *unused)
{
	while (racing) {
		((volatile char *)raced)[5] = 'a';
		((volatile char *)raced)[5] = 'b';
	}
	return unused;
}

/* Folders whose name another thread changes all the time: how many were made
 * of each is in the name of a file. */
static void race(void)
{
	unsigned made[2] = {0};
	char text[40];
	pthread_t thread;

	if (pthread_create(&thread, NULL, change, NULL) != 0)
		return;
	for (int i = 0; i < 200; i++) {
		ignore(mkdir(raced, 0700));
		for (int k = 0; k < 2; k++)
			made[k] += rmdir(k ? "race-b" : "race-a") == 0;
	}
	racing = false;
	pthread_join(thread, NULL);
	snprintf(text, sizeof(text), "race-made-%u-%u", made[0], made[1]);
	make(text);
}

/* --- attempts ------------------------------------------------------------- */

static void attempts(const char *secret)
{
	char insns[16] = {0}, *none[] = {NULL};

	ignore(execve("folder", none, none));
	ignore(execve("absent", none, none));
	ignore((int)syscall(SYS_execveat, AT_FDCWD, "./folder", none, none, 0));
	ignore(mount("none", "folder", "tmpfs", 0, NULL));
	ignore(umount2("folder", MNT_DETACH));
	ignore(chroot("folder"));
	ignore(ptrace(PTRACE_ATTACH, 1, NULL, NULL));
	ignore(syscall(SYS_bpf, 5, insns, sizeof(insns)));
	ignore(syscall(SYS_init_module, insns, sizeof(insns), ""));
	ignore(syscall(SYS_delete_module, "nosuch", 0));
	ignore(setns(-1, CLONE_NEWNET));
	ignore(unshare(CLONE_NEWUTS));
	ignore(syscall(SYS_openat, AT_FDCWD, secret, O_RDONLY));
	ignore(sethostname("x", 1));
	ignore(chown("folder/moved", 0, 0));
}

static void *in_thread(void *unused)
{
	make("by-thread");
	return unused;
}

static void processes(char *self)
{
	char *child[] = {self, (char *)"exit", (char *)"7", NULL};
	pthread_t thread;
	pid_t pid = fork();

	if (pid == 0) {
		execv(self, child);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
	if (pthread_create(&thread, NULL, in_thread, NULL) == 0)
		pthread_join(thread, NULL);
}

static int alone(const char *folder, void (*part)(void))
{
	if (chdir(folder) < 0)
		return 2;
	part();
	tell_what_worked();
	return 0;
}

int main(int n, char **v)
{
	if (n == 3 && strcmp(v[1], "exit") == 0)
		return atoi(v[2]);
	if (n == 3 && strcmp(v[1], "ring") == 0)
		return alone(v[2], uring);
	if (n == 3 && strcmp(v[1], "compat") == 0)
		return alone(v[2], compat);
	if (n == 2 && strcmp(v[1], "narrow") == 0) {
		compat();
		return 0;
	}
	raise_loopback();
	if (n != 3 || chdir(v[1]) < 0 || setgid(1000) < 0 || setuid(1000) < 0)
		return 2;
	opens();
	names();
	streams();
	datagrams();
	processes(v[0]);
	attempts(v[2]);
	race();
	numbers();
	ways(v[0]);
	compat();
	uring();
	tell_what_worked();
	return 0;
}
