/*
 * The streams of a native session's command: a pipe of the caller's is handed
 * on, anything else goes by pipes of our own, byte for byte, to the end.
 */
#include "runtime/launch/native/parts.h"
#include "tests/check.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define LONG 200000 /* more than a pipe holds */

static struct err err;

static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* As part.c has it: the command in a process of its own, and the other beside
 * it; the status. */
static int serve(const char *command)
{
	int signals = open_signals(), status;
	struct streams s;
	pid_t pid;

	if (signals < 0 || streams_open(&s, false, &err) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		sigset_t none;

		if (streams_take(&s, &err) < 0)
			_exit(99);
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(98);
	}
	streams_leave(&s);
	status = streams_serve(&s, pid, signals);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* In a process whose 0 and 1 are files; what it printed is in text. */
static int serve_files(const char *input, size_t n, const char *command,
		       char *text, size_t size, size_t *out_n)
{
	char in[] = "/tmp/membrane-in-XXXXXX",
	     out[] = "/tmp/membrane-out-XXXXXX";
	int from = mkstemp(in), to = mkstemp(out), status = -1;
	ssize_t got;
	pid_t pid;

	CHECK(write(from, input, n) == (ssize_t)n &&
	      lseek(from, 0, SEEK_SET) == 0);
	pid = fork();
	if (pid == 0) {
		dup2(from, 0);
		dup2(to, 1);
		_exit(serve(command));
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	got = pread(to, text, size, 0);
	*out_n = got > 0 ? (size_t)got : 0;
	close(from);
	close(to);
	unlink(in);
	unlink(out);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_bytes(void)
{
	char *input = malloc(LONG), *text = malloc(LONG + 1);
	size_t n;

	for (size_t i = 0; i < LONG; i++)
		input[i] = (char)(i * 7 + i / 251);
	CHECK(serve_files(input, LONG, "cat", text, LONG + 1, &n) == 0);
	CHECK(n == LONG && memcmp(text, input, LONG) == 0);
	/* who reads nothing ends all the same */
	CHECK(serve_files(input, LONG, "exit 7", text, LONG + 1, &n) == 7);
	CHECK(n == 0);
	free(input);
	free(text);
}

static void test_ends(void)
{
	char text[64];
	size_t n;

	CHECK(serve_files("", 0, "printf last; exit 3", text, sizeof(text),
			  &n) == 3);
	CHECK(n == 4 && memcmp(text, "last", 4) == 0);
	CHECK(serve_files("", 0, "kill -9 $$", text, sizeof(text), &n) == 137);
	/* a signal of ours is the command's */
	CHECK(serve_files("", 0,
			  "trap 'exit 5' TERM; kill $PPID; while :; do :; done",
			  text, sizeof(text), &n) == 5);
	/* what a file is the command does not have: it cannot be sought in */
	CHECK(serve_files("abc", 3, "test -p /dev/stdin && test -p /dev/stdout",
			  text, sizeof(text), &n) == 0);
}

/* A pipe is the caller's own, so that nothing stands between. */
static void test_pipes(void)
{
	struct streams s;
	int p[2], status = -1;
	pid_t pid;

	CHECK(pipe(p) == 0);
	pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 3; i++)
			dup2(p[i != 0], i);
		if (streams_open(&s, false, &err) < 0)
			_exit(1);
		for (int i = 0; i < 3; i++)
			if (s.inside[i] >= 0 || s.outside[i] >= 0)
				_exit(2);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	close(p[0]);
	close(p[1]);
}

int main(void)
{
	test_bytes();
	test_ends();
	test_pipes();
	return check_status();
}
