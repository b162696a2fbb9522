/*
 * Which calls the kernel asks about, by the filter that words of native.json
 * make: asked of the kernel itself, by a process that makes them.
 */
#include "runtime/launch/native/parts.h"

#include "compiler/base/sys/fdpass.h"
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ASKED_MAX 32

static struct arena *a;
static struct err err;

static const char *nothing(void *ctx, const char *name)
{
	(void)ctx;
	(void)name;
	return NULL;
}

static void make_filter(const char *ask, struct filter *out)
{
	char word[128], native[] = "native", run[] = "run", host[] = "host",
			program[] = "/x";
	char *vector[] = {native, run, word, host, program, NULL};
	struct words w;

	snprintf(word, sizeof(word), "--ask=%s", ask);
	CHECK(words_read(a, vector, nothing, NULL, &w, &err) == 0);
	asking_make(a, &w, out);
}

/* Calls the function under the filter; the numbers asked about, in order. The
 * wait status of who called is returned. */
static int run_under(const char *ask, void call(void), int nrs[ASKED_MAX],
		     int *out_n)
{
	struct seccomp_notif_resp resp;
	struct seccomp_notif n;
	struct filter f;
	int pair[2], listener, status;
	char byte;
	pid_t pid;

	make_filter(ask, &f);
	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		if (asking_begin(&f, pair[1], &err) < 0)
			_exit(99);
		call();
		_exit(0);
	}
	close(pair[1]);
	CHECK(fdpass_take(pair[0], &byte, 1, &listener, 0) == 1 &&
	      listener >= 0);
	for (*out_n = 0; *out_n < ASKED_MAX;) {
		struct pollfd p = {listener, POLLIN, 0};

		if (poll(&p, 1, 10000) != 1 || !(p.revents & POLLIN))
			break;
		memset(&n, 0, sizeof(n));
		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &n) < 0)
			continue;
		nrs[(*out_n)++] = n.data.nr;
		resp = (struct seccomp_notif_resp){
			.id = n.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
		CHECK(ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &resp) == 0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	close(listener);
	close(pair[0]);
	return status;
}

static void open_some(void)
{
	static const unsigned long not_asked[] = {
		O_RDONLY, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_APPEND,
		O_RDONLY | O_DIRECTORY, 0x4200000000ul | O_RDONLY};
	static const unsigned long asked[] = {
		O_WRONLY, O_RDWR, O_ACCMODE, O_RDONLY | O_CREAT,
		O_RDONLY | O_TRUNC, 0x100000000ul | O_WRONLY};

	for (size_t i = 0; i < ARRAY_LEN(not_asked); i++)
		syscall(SYS_openat, AT_FDCWD, "/dev/null", not_asked[i], 0600);
	for (size_t i = 0; i < ARRAY_LEN(asked); i++)
		syscall(SYS_openat, AT_FDCWD, "/dev/null", asked[i], 0600);
#ifdef SYS_open
	syscall(SYS_open, "/dev/null", O_RDONLY, 0600);
	syscall(SYS_open, "/dev/null", O_WRONLY, 0600);
#endif
}

static void test_opens(void)
{
	int nrs[ASKED_MAX], n, asked = 0;

	CHECK(run_under("openat:write,open:write", open_some, nrs, &n) == 0);
	for (int i = 0; i < n; i++)
		asked += nrs[i] == SYS_openat;
	CHECK(asked == 6);
#ifdef SYS_open
	CHECK(n == 7 && nrs[6] == SYS_open);
#endif
	CHECK(run_under("openat", open_some, nrs, &n) == 0);
	CHECK(n == 10);
}

static void call_others(void)
{
	struct open_how how = {.flags = O_RDONLY};
	struct sockaddr to = {.sa_family = AF_UNSPEC};
	char byte;

	syscall(SYS_openat2, AT_FDCWD, "/dev/null", &how, sizeof(how));
	syscall(SYS_read, -1, &byte, 1);
	syscall(SYS_connect, -1, &to, sizeof(to));
	syscall(SYS_unlinkat, AT_FDCWD, "", 0);
}

static void test_others(void)
{
	int nrs[ASKED_MAX], n;

	CHECK(run_under("openat2,connect", call_others, nrs, &n) == 0);
	CHECK(n == 2 && nrs[0] == SYS_openat2 && nrs[1] == SYS_connect);
}

/* There is one listener, and no second one besides. */
static void load_another(void)
{
	struct filter f;
	int listener;

	make_filter("connect", &f);
	if (asking_load(&f, &listener, &err) != -EBUSY)
		abort();
}

static void test_one_alone(void)
{
	int nrs[ASKED_MAX], n;

	CHECK(run_under("connect", load_another, nrs, &n) == 0);
}

#ifdef __x86_64__
static void call_x32(void)
{
	syscall(0x40000000 + SYS_getpid);
}

static void call_narrow(void)
{
	long ret = 20; /* getpid */

	/* A kernel without such calls ends it so, and no sanitizer's handler is
	 * to make a status of that. */
	signal(SIGSEGV, SIG_DFL);
	__asm__ volatile("int $0x80" : "+a"(ret) : : "memory");
}

static void test_other_numbers(void)
{
	int nrs[ASKED_MAX], n, status;

	status = run_under("connect", call_x32, nrs, &n);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS && n == 0);
	status = run_under("connect", call_narrow, nrs, &n);
	CHECK(WIFSIGNALED(status) && (WTERMSIG(status) == SIGSYS ||
				      WTERMSIG(status) == SIGSEGV));
	CHECK(n == 0);
}
#endif

int main(void)
{
	a = arena_new();
	test_opens();
	test_others();
	test_one_alone();
#ifdef __x86_64__
	test_other_numbers();
#endif
	arena_free(a);
	return check_status();
}
