/*
 * What a user's trace takes of this kernel, once: a process has it ask about a
 * call, and another one reads what is asked for, and lets it go on.
 */
#include "runtime/launch/native/parts.h"

#include "compiler/base/sys/fdpass.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static const char asked_for[] = "/";

/* The one who is asked about. What it fails at it says by its end: an errno. */
static _Noreturn void make_call(const struct filter *f, int channel)
{
	struct err err;
	int rc = 0;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		rc = -errno;
	if (rc == 0)
		rc = asking_begin(f, channel, &err);
	close(channel);
	if (rc == 0 && syscall(SYS_openat, AT_FDCWD, asked_for, O_RDONLY) < 0)
		rc = -errno;
	_exit(-rc);
}

/* Its memory, as the tracer reads it. */
static int read_asked(const struct seccomp_notif *n, struct err *err)
{
	char text[sizeof(asked_for)] = "";
	struct iovec own = {text, sizeof(text)},
		     its = {(void *)(uintptr_t)n->data.args[1], sizeof(text)};

	if (process_vm_readv((pid_t)n->pid, &own, 1, &its, 1, 0) < 0)
		return err_errno(err, "the memory of a process that waits");
	return memcmp(text, asked_for, sizeof(text)) == 0
		       ? 0
		       : err_set(err, -EIO,
				 "the memory of a process that waits: it is another's");
}

/* The kernel's records may be longer than those that we know. */
static int answer_call(struct arena *a, int listener, struct err *err)
{
	struct seccomp_notif_sizes sizes;
	struct seccomp_notif_resp *go_on;
	struct seccomp_notif *n;
	int rc;

	if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) < 0)
		return err_errno(err, "what the kernel asks");
	n = arena_array(a, sizes.seccomp_notif + sizeof(*n), 1);
	go_on = arena_array(a, sizes.seccomp_notif_resp + sizeof(*go_on), 1);
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, n) < 0)
		return err_errno(err, "a call that is asked about");
	rc = read_asked(n, err);
	if (rc < 0)
		return rc;
	*go_on = (struct seccomp_notif_resp){
		.id = n->id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, go_on) < 0)
		return err_errno(err, "a call that is to go on");
	return 0;
}

int asking_try(struct arena *a, struct err *err)
{
	struct words w = {0};
	int pair[2], listener, status = 0, rc;
	struct filter f;
	char byte;
	pid_t pid;

	*vec_push(a, &w.ask) = (struct words_call){.nr = SYS_openat};
	asking_make(a, &w, &f);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_errno(err, "socketpair");
	pid = fork();
	if (pid == 0) {
		close(pair[0]);
		make_call(&f, pair[1]);
	}
	close(pair[1]);
	if (pid < 0) {
		rc = err_errno(err, "fork");
		close(pair[0]);
		return rc;
	}
	/* nothing comes of one that could not have it asked */
	(void)fdpass_take(pair[0], &byte, 1, &listener, 0);
	close(pair[0]);
	rc = listener < 0 ? 0 : answer_call(a, listener, err);
	if (listener >= 0)
		close(listener); /* whoever waits still is not kept */
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (rc == 0 && WIFSIGNALED(status))
		rc = err_set(err, -EPERM,
			     "the filter of calls that are asked about: signal %d ended who made it",
			     WTERMSIG(status));
	else if (rc == 0 && status != 0)
		rc = err_set(err, -WEXITSTATUS(status),
			     "the filter of calls that are asked about: %s",
			     strerror(WEXITSTATUS(status)));
	return rc;
}
