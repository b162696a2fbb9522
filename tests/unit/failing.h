/*
 * System calls that fail when a test wants it. The Makefile wraps those of
 * FAILING_CALLS in the programs of FAILING, and in no others: what they call of
 * these comes here, what libraries call does not.
 *
 * One fails at a time: after so many that do not, once, with that errno.
 */
#ifndef TESTS_UNIT_FAILING_H
#define TESTS_UNIT_FAILING_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
	const char *call; /* NULL: none is to fail */
	unsigned after;
	int code;
} failing;

/* The one of so many before it. */
static inline void fail_call(const char *call, unsigned after, int code)
{
	failing.call = call;
	failing.after = after;
	failing.code = code;
}

/* Has it failed? A test that asked for a call that is never made is wrong. */
static inline bool has_failed(void)
{
	bool yes = failing.call == NULL;

	failing.call = NULL;
	return yes;
}

static inline bool fails_now(const char *call)
{
	if (!failing.call || strcmp(failing.call, call) != 0 || failing.after--)
		return false;
	failing.call = NULL;
	errno = failing.code;
	return true;
}

#define WRAPPED(type, none, name, parameters, arguments)                       \
	type __real_##name parameters;                                         \
	type __wrap_##name parameters;                                         \
	type __wrap_##name parameters                                          \
	{                                                                      \
		return fails_now(#name) ? (none) : __real_##name arguments;    \
	}

WRAPPED(ssize_t, -1, pwrite, (int fd, const void *p, size_t n, off_t at),
	(fd, p, n, at))
WRAPPED(int, -1, fsync, (int fd), (fd))
WRAPPED(int, -1, ftruncate, (int fd, off_t n), (fd, n))
WRAPPED(int, -1, flock, (int fd, int how), (fd, how))
WRAPPED(int, -1, pipe, (int fds[2]), (fds))
WRAPPED(pid_t, -1, fork, (void), ())
WRAPPED(DIR *, NULL, fdopendir, (int fd), (fd))
WRAPPED(int, -1, signalfd, (int fd, const sigset_t *set, int flags),
	(fd, set, flags))
WRAPPED(int, -1, sigprocmask, (int how, const sigset_t *set, sigset_t *old),
	(how, set, old))
WRAPPED(int, -1, renameat,
	(int from_dir, const char *from, int to_dir, const char *to),
	(from_dir, from, to_dir, to))
WRAPPED(int, -1, renameat2,
	(int from_dir, const char *from, int to_dir, const char *to,
	 unsigned flags),
	(from_dir, from, to_dir, to, flags))

/* The third argument of what is called here is an int, or there is none. */
int __real_fcntl(int fd, int what, ...);
int __wrap_fcntl(int fd, int what, ...);

int __wrap_fcntl(int fd, int what, ...)
{
	va_list more;
	int value;

	va_start(more, what);
	value = va_arg(more, int);
	va_end(more);
	return fails_now("fcntl") ? -1 : __real_fcntl(fd, what, value);
}

#endif
