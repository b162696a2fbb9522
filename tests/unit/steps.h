/*
 * A function whose system calls fail, each in its turn: in a process of its
 * own, whose kernel asks this one about them (seccomp_unotify(2)). What begins
 * that process begins all that is tried alike.
 *
 * Whichever fails, a function has to say so: with a negative result and the
 * kernel's reason, or that there is no room. But for those that it can do
 * without.
 */
#ifndef TESTS_UNIT_STEPS_H
#define TESTS_UNIT_STEPS_H

#include "compiler/base/err.h"
#include "tests/check.h"
#include "tests/unit/sanitized.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEP_ERROR EIO /* which none of them has a reason for */
#define STEPS_MAX  400

struct step {
	const char *name;
	int call;
};

#define STEP(name)                                                             \
	{                                                                      \
#name, SYS_##name                                              \
	}
/* What there is to fail; where libc has the choice of two, both. */
static const struct step steps[] = {
	STEP(socket),	   STEP(bind),	     STEP(listen),
	STEP(connect),	   STEP(setsockopt), STEP(getsockname),
	STEP(sendto),	   STEP(recvfrom),   STEP(sendmsg),
	STEP(recvmsg),	   STEP(openat),     STEP(fcntl),
	STEP(fchmod),	   STEP(mkdirat),    STEP(linkat),
	STEP(unshare),	   STEP(setns),	     STEP(pipe2),
	STEP(eventfd2),	   STEP(socketpair), STEP(pidfd_open),
	STEP(write),	   STEP(accept4),    STEP(getsockopt),
	STEP(unlinkat),	   STEP(readlinkat), STEP(symlinkat),
	STEP(mount),	   STEP(chroot),     STEP(chdir),
	STEP(setresuid),   STEP(setresgid),  STEP(setgroups),
	STEP(capset),	   STEP(prctl),	     STEP(rt_sigprocmask),
	STEP(close_range), STEP(faccessat2), STEP(faccessat),
	STEP(clone),	   STEP(dup3),	     STEP(fchmodat),
	STEP(signalfd4),   STEP(getdents64), STEP(dup),
#ifdef SYS_mkdir
	STEP(mkdir),	   STEP(chmod),	     STEP(link),
	STEP(unlink),	   STEP(access),     STEP(dup2),
	STEP(readlink),	   STEP(symlink),
#endif
#ifdef STEPS_MORE /* of a test's own */
	STEPS_MORE
#endif
};

#define STEPS (sizeof(steps) / sizeof(*steps))

/* One try, in memory that both processes have. */
struct step_try {
	int rc, listener;
	bool made; /* it could begin */
	struct err err;
};

struct steps_of {
	const char *name;
	bool (*begin)(void); /* with nothing that fails; NULL: nothing to do */
	int (*run)(struct err *err);
	const char *spares; /* " call call ": it does without; or NULL */
	unsigned most; /* behind so many all is a library's; 0: nothing is */
	/* which of them are steps at all; NULL: all */
	bool (*counts)(const struct seccomp_notif *);
};

static inline int step_filter(void)
{
	struct sock_filter code[STEPS + 3];
	struct sock_fprog filter = {(unsigned short)(STEPS + 3), code};
	size_t n = 0;

	code[n++] = (struct sock_filter)BPF_STMT(
		BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < STEPS; i++)
		code[n++] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)steps[i].call,
			(uint8_t)(STEPS - i), 0);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
						 SECCOMP_RET_ALLOW);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
						 SECCOMP_RET_USER_NOTIF);
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0
		       ? -1
		       : (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
				      SECCOMP_FILTER_FLAG_NEW_LISTENER,
				      &filter);
}

static inline const char *step_name(const struct seccomp_data *d)
{
	if (d->nr == SYS_setsockopt && d->args[1] == SOL_SOCKET &&
	    (d->args[2] == SO_RCVBUFFORCE || d->args[2] == SO_RCVBUF))
		return "widen";
	if (d->nr == SYS_setsockopt && d->args[1] == IPPROTO_TCP)
		return "pace";
	if (d->nr == SYS_socket && d->args[0] == AF_INET6)
		return "six";
	for (size_t i = 0; i < STEPS; i++)
		if (steps[i].call == d->nr)
			return steps[i].name;
	return "?";
}

/* A library's: if_nametoindex(3) looks for any socket that it can have, libcap
 * for what there is to drop. */
static inline bool step_is_libc(const struct seccomp_data *d)
{
	return (d->nr == SYS_socket &&
		d->args[1] == (SOCK_DGRAM | SOCK_CLOEXEC)) ||
	       (d->nr == SYS_prctl && (d->args[0] == PR_CAPBSET_READ ||
				       (d->args[0] == PR_CAP_AMBIENT &&
					d->args[1] == PR_CAP_AMBIENT_IS_SET)));
}

/* told, wait: pipes, by which it waits until it is listened to. */
static inline void step_child(const struct steps_of *f, struct step_try *t,
			      int told, int wait)
{
	char c = 0;

	t->made = !f->begin || f->begin();
	t->listener = t->made ? step_filter() : -1;
	/* neither read(2) nor vmsplice(2) is a step */
	if (t->listener >= 0 &&
	    vmsplice(told, &(struct iovec){&c, 1}, 1, 0) == 1 &&
	    read(wait, &c, 1) == 1)
		t->rc = f->run(&t->err);
	_exit(0);
}

/* Lets all go on but one, and says which; NULL: there were not so many. */
static inline const char *step_serve(const struct steps_of *f, int listener,
				     unsigned fail)
{
	struct seccomp_notif ask;
	const char *failed = NULL;
	unsigned n = 0;

	for (;;) {
		struct pollfd p = {listener, POLLIN, 0};
		struct seccomp_notif_resp answer = {0};

		if (poll(&p, 1, -1) < 0 || !(p.revents & POLLIN))
			return failed;
		memset(&ask, 0, sizeof(ask));
		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &ask) < 0)
			continue;
		answer.id = ask.id;
		if (!step_is_libc(&ask.data) &&
		    (!f->counts || f->counts(&ask)) && n++ == fail) {
			failed = step_name(&ask.data);
			answer.error = -STEP_ERROR;
		} else {
			answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
		}
		(void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
	}
}

/* With the n-th that fails; the name of that, NULL: there are not so many. */
static inline const char *step_try(const struct steps_of *f, unsigned n,
				   struct step_try *t)
{
	int told[2], wait[2], pidfd, listener = -1;
	const char *failed = NULL;
	pid_t pid;
	char c;

	*t = (struct step_try){.listener = -1};
	if (pipe(told) < 0 || pipe(wait) < 0)
		return NULL;
	pid = fork();
	if (pid == 0) {
		close(told[0]);
		close(wait[1]);
		step_child(f, t, told[1], wait[0]);
	}
	close(told[1]);
	close(wait[0]);
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (read(told[0], &c, 1) == 1)
		listener = (int)syscall(SYS_pidfd_getfd, pidfd, t->listener, 0);
	if (listener >= 0 && write(wait[1], "", 1) == 1)
		failed = step_serve(f, listener, n);
	close(told[0]);
	close(wait[1]);
	close(pidfd);
	if (listener >= 0)
		close(listener);
	(void)waitpid(pid, NULL, 0);
	return failed;
}

/* Whether the kernel lets a process be asked about, which is said. */
static inline bool steps_are_asked(void)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(step_filter() < 0);
	if (waitpid(pid, &status, 0) == pid && status == 0)
		return true;
	printf("no process is asked about here: not tried\n");
	return false;
}

static inline bool step_spared(const struct steps_of *f, const char *name)
{
	char word[32];

	snprintf(word, sizeof(word), " %s ", name);
	return f->spares && strstr(f->spares, word);
}

/* All of its steps, and that without a failure it does what it is for. */
static inline void steps_check(const struct steps_of *f)
{
	struct step_try *t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const char *name;
	unsigned n = 0;

	for (; n < (f->most ? f->most : STEPS_MAX); n++) {
		name = step_try(f, n, t);
		CHECK_MSG(t->made, "%s does not begin, step %u", f->name, n);
		if (!name)
			break;
		if (step_spared(f, name)) {
			CHECK_MSG(t->rc >= 0, "%s without %s, step %u: %s",
				  f->name, name, n, t->err.text);
			continue;
		}
		CHECK_MSG(t->rc < 0 &&
				  (strstr(t->err.text, strerror(STEP_ERROR)) ||
				   strstr(t->err.text, "no room")),
			  "%s without %s, step %u: %d %s", f->name, name, n,
			  t->rc, t->err.text);
	}
	(void)step_try(f, STEPS_MAX, t);
	CHECK_MSG(t->made && t->rc >= 0 && !t->err.text[0] && n > 0,
		  "%s: %d %s (%u steps)", f->name, t->rc, t->err.text, n);
	munmap(t, sizeof(*t));
}

#endif
