/*
 * Functions of the product that a test plays: the Makefile has the linker lead
 * calls of each PART of the test's source, and of its own header, there. What is
 * called is kept, a line each, and one of those that can fail does so when the
 * test wants it.
 *
 * What is tested runs in a process of its own, and begins as it would by
 * itself.
 */
#ifndef TESTS_UNIT_GATE_PLAYED_H
#define TESTS_UNIT_GATE_PLAYED_H

#include "compiler/base/err.h"
#include "tests/check.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLAYED_MAX   8192u
#define PLAYED_CALLS 200u

#define PART(type, name, parameters)                                           \
	type __wrap_##name parameters;                                         \
	type __wrap_##name parameters

/* One of the system's, which others call outside of what is tested. */
#define PART_OUTSIDE(type, name, parameters, arguments)                        \
	type __real_##name parameters;                                         \
	static type act_##name parameters;                                     \
	PART(type, name, parameters)                                           \
	{                                                                      \
		return acting ? act_##name arguments                           \
			      : __real_##name arguments;                       \
	}                                                                      \
	static type act_##name parameters

static bool acting; /* what is tested, in its process */

/* In memory that both processes have. */
static struct played {
	unsigned calls;	   /* so far, of those that can fail */
	unsigned fail;	   /* which of them does, from 1; 0: none */
	const char *fails; /* one that does so each time; NULL: none */
	size_t n, n_aside;
	size_t ends[PLAYED_CALLS + 1]; /* of their lines, from 1 */
	char said[PLAYED_MAX];
	/* what is the same wherever something ends, or not said at all then */
	char aside[PLAYED_MAX];
} * played;

static inline void add_line(char *to, size_t *n, const char *fmt, va_list ap)
{
	int more = vsnprintf(to + *n, PLAYED_MAX - *n, fmt, ap);

	*n += (size_t)more;
	if (*n + 2 > PLAYED_MAX)
		_exit(3);
	to[(*n)++] = '\n';
	to[*n] = '\0';
}

static inline void say(const char *fmt, ...) printf_like(1, 2);
static inline void say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_line(played->said, &played->n, fmt, ap);
	va_end(ap);
}

static inline void say_aside(const char *fmt, ...) printf_like(1, 2);
static inline void say_aside(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_line(played->aside, &played->n_aside, fmt, ap);
	va_end(ap);
}

/* True: it is to fail. */
static inline bool fails_here(const char *line)
{
	size_t n = strcspn(line, " \n");

	if (++played->calls > PLAYED_CALLS)
		_exit(5);
	played->ends[played->calls] = played->n;
	return played->calls == played->fail ||
	       (played->fails && strlen(played->fails) == n &&
		memcmp(played->fails, line, n) == 0);
}

/* A call that says what it is, and 0 or how it fails. What is in *err and errno
 * after one that did not is nothing that anybody may take for an error. */
static inline int play(struct err *err, const char *fmt, ...) printf_like(2, 3);
static inline int play(struct err *err, const char *fmt, ...)
{
	const char *line = played->said + played->n;
	va_list ap;

	va_start(ap, fmt);
	add_line(played->said, &played->n, fmt, ap);
	va_end(ap);
	if (fails_here(line))
		return err_set(err, -EIO, "%.*s fails",
			       (int)strcspn(line, " \n"), line);
	*err = (struct err){-EBADF, "of something else"};
	errno = EBADF;
	return 0;
}

/* Of a system call: 0, or -1 and errno. */
#define PLAY_CALL(...)                                                         \
	(play(&(struct err){0}, __VA_ARGS__) < 0 ? (errno = EIO, -1) : 0)

/* What has to be so when a part is called. */
#define WIRED(cond) ((cond) ? (void)0 : say("not so: %s", #cond))

static inline void play_begin(void)
{
	played = mmap(NULL, sizeof(*played), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(played != MAP_FAILED);
}

/* Its status ends what it says. False: it did not end. */
static inline bool play_act(int (*act)(void), unsigned fail, const char *fails)
{
	int status = -1;
	pid_t pid;

	memset(played, 0, sizeof(*played));
	played->fail = fail;
	played->fails = fails;
	pid = fork();
	if (pid == 0) {
		acting = true;
		say("= %d", act());
		_exit(0);
	}
	return waitpid(pid, &status, 0) == pid && status == 0;
}

/* The place of what differs is said. */
static inline bool same_lines(const char *got, const char *want)
{
	size_t i = 0, from = 0;

	while (got[i] && got[i] == want[i])
		if (got[i++] == '\n')
			from = i;
	if (got[i] == want[i])
		return true;
	fprintf(stderr, "said:   %.*s\nwanted: %.*s\n",
		(int)strcspn(got + from, "\n"), got + from,
		(int)strcspn(want + from, "\n"), want + from);
	return false;
}

/*
 * Whichever of the first calls fails, up to one that the act says later,
 * nothing is called any more but what ends it.
 */
static inline void each_fails(int (*act)(void), const char *later,
			      const char *ending)
{
	static struct played whole;
	char want[PLAYED_MAX];
	const char *at;
	unsigned n = 1;

	CHECK(play_act(act, 0, NULL));
	whole = *played;
	at = strstr(whole.said, later);
	CHECK_MSG(at != NULL, "%s", whole.said);
	for (; at && n <= whole.calls &&
	       whole.ends[n] <= (size_t)(at - whole.said);
	     n++) {
		CHECK(play_act(act, n, NULL));
		snprintf(want, sizeof(want), "%.*s%s", (int)whole.ends[n],
			 whole.said, ending);
		CHECK_MSG(same_lines(played->said, want), "call %u fails", n);
	}
	CHECK(n > 1);
}

#endif
