/* What files, programs and signals come to when the system says no. */
#include "compiler/base/sys/fileio.h"
#include "compiler/base/sys/outfile.h"
#include "compiler/base/sys/proc.h"
#include "compiler/base/sys/signals.h"
#include "tests/check.h"
#include "tests/unit/failing.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

static struct arena *a;
static struct err err;
static const char *top;

static const char *in(const char *name)
{
	return arena_fmt(a, "%s/%s", top, name).p;
}

static int put(const char *name, const char *text)
{
	return fileio_write(AT_FDCWD, in(name), str_of(text), 0600, &err);
}

static bool holds(const char *name, const char *text)
{
	struct str have;

	return fileio_read(a, AT_FDCWD, in(name), 1000, &have, &err) == 0 &&
	       str_is(have, text);
}

/* NAME.PID.tmp, which a process of the same number once left. */
static const char *left_of(const char *name)
{
	return arena_fmt(a, "%s.%ld.tmp", in(name), (long)getpid()).p;
}

static const char *long_path(void)
{
	char *p = arena_alloc(a, PATH_MAX + 1);

	memset(p, 'x', PATH_MAX);
	p[0] = '/';
	return p;
}

static void check_writing(void)
{
	struct rlimit before, small;

	CHECK(put("old", "old") == 0);
	CHECK(rename(in("old"), left_of("file")) == 0);
	CHECK(put("file", "new") == 0 && holds("file", "new"));
	CHECK(access(left_of("file"), F_OK) < 0);
	CHECK(put("nowhere/file", "new") == -ENOENT);
	CHECK(mkdir(in("folder"), 0700) == 0);
	CHECK(put("folder", "new") == -EISDIR);
	CHECK(access(left_of("folder"), F_OK) < 0);
	CHECK(fileio_write(AT_FDCWD, long_path(), STR(""), 0600, &err) ==
	      -ENAMETOOLONG);
	/* no room: what was there stays, and nothing is left beside it */
	signal(SIGXFSZ, SIG_IGN);
	CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
	small = before;
	small.rlim_cur = 2;
	CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
	CHECK(put("file", "longer") == -EFBIG);
	CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
	CHECK(strstr(err.text, "write: ") && strstr(err.text, in("file")));
	CHECK(holds("file", "new") && access(left_of("file"), F_OK) < 0);
}

static void check_folders(void)
{
	CHECK(fileio_mkdirs(long_path(), 0700, &err) == -ENAMETOOLONG);
	CHECK(fileio_mkdirs("", 0700, &err) == -ENAMETOOLONG);
	CHECK(symlink("nowhere", in("dangling")) == 0);
	CHECK(fileio_mkdirs(in("dangling"), 0700, &err) == -ENOENT);
	CHECK(fileio_mkdirs(in("file"), 0700, &err) == -ENOTDIR);
	CHECK(fileio_remove_tree(AT_FDCWD, in("file/x"), &err) == -ENOTDIR);
	CHECK(put("folder/x", "kept") == 0);
	fail_call("fdopendir", 0, ENOMEM);
	CHECK(fileio_remove_tree(AT_FDCWD, in("folder"), &err) == -ENOMEM);
	CHECK(has_failed() && holds("folder/x", "kept"));
	CHECK(rename(in("folder/x"), left_of("folder/x")) == 0);
	fail_call("fdopendir", 0, ENOMEM);
	{
		auto_fd int dir = open(in("folder"), O_RDONLY | O_DIRECTORY);

		/* it stays, and costs room and nothing else */
		fileio_remove_unfinished(dir, "x");
		CHECK(has_failed() && access(left_of("folder/x"), F_OK) == 0);
		fileio_remove_unfinished(dir, "x");
		CHECK(access(left_of("folder/x"), F_OK) < 0);
	}
	CHECK(fileio_remove_tree(AT_FDCWD, in("folder"), &err) == 0);
}

static bool is_agents(void *ctx, int dirfd)
{
	(void)ctx;
	(void)dirfd;
	return true;
}

/* What replaces a file in a folder of an agent's. */
static void check_replacing(void)
{
	const struct outfile_rule rule = {is_agents, NULL};
	const char *path = in("file");

	CHECK(put("old", "old") == 0);
	CHECK(rename(in("old"), left_of("file")) == 0);
	CHECK(outfile_write(a, &rule, AT_FDCWD, path, STR("two"), 0600, &err) ==
	      0);
	CHECK(holds("file", "two") && access(left_of("file"), F_OK) < 0);
	fail_call("renameat", 0, EIO);
	CHECK(outfile_write(a, &rule, AT_FDCWD, path, STR("six"), 0600, &err) ==
	      -EIO);
	CHECK(has_failed() && holds("file", "two"));
	CHECK(access(left_of("file"), F_OK) < 0);
	CHECK(mkdir(left_of("file"), 0700) == 0);
	CHECK(outfile_write(a, &rule, AT_FDCWD, path, STR("six"), 0600, &err) ==
		      -EISDIR ||
	      err.code == -EPERM);
	CHECK(rmdir(left_of("file")) == 0 && holds("file", "two"));
}

/* Its exit status, or that it does not begin. */
static int run_shell(const char *script, int keep, int in_fd)
{
	char *argv[] = {arena_cstr(a, STR("sh")), arena_cstr(a, STR("-c")),
			arena_cstr(a, str_of(script)), NULL};
	const struct proc_opts o = {
		.argv = argv, .in = in_fd, .out = -1, .err = -1, .keep = keep};
	pid_t pid = 0;
	int rc = proc_spawn(&o, &pid, &err), status = 0;

	if (rc < 0)
		return rc;
	CHECK(waitpid(pid, &status, 0) == pid);
	return proc_status(status);
}

static int return_3(void *ctx, char *const *argv)
{
	(void)ctx;
	(void)argv;
	return 3;
}

/* What a process of ours does in the place of a program. */
static int run_here(void)
{
	struct proc_opts o = {
		.run = return_3, .in = -1, .out = -1, .err = -1, .keep = -1};
	pid_t pid = 0;
	int rc = proc_spawn(&o, &pid, &err), status = 0;

	if (rc < 0)
		return rc;
	CHECK(waitpid(pid, &status, 0) == pid);
	return proc_status(status);
}

static void check_programs(void)
{
	static const char has_9[] = "test -e /proc/self/fd/9";
	int one, other;

	CHECK(run_shell("exit 7", -1, -1) == 7);
	fail_call("pipe", 0, EMFILE);
	CHECK(run_shell("exit 7", -1, -1) == -EMFILE && has_failed());
	CHECK(strcmp(err.text, "pipe: Too many open files") == 0);
	fail_call("fcntl", 1, EINVAL);
	CHECK(run_shell("exit 7", -1, -1) == -EINVAL && has_failed());
	fail_call("fork", 0, EAGAIN);
	CHECK(run_here() == -EAGAIN && has_failed());
	CHECK(strncmp(err.text, "fork: ", 6) == 0);
	CHECK(run_here() == 3);
	CHECK(proc_pipe(&one, &other, &err) == 0);
	fail_call("fcntl", 1, EBADF);
	CHECK(proc_nonblock(one, &err) == -EBADF && has_failed());
	/* closed in programs, but for the one that is kept, or is its stdin */
	CHECK(dup3(one, 9, O_CLOEXEC) == 9);
	CHECK(run_shell(has_9, -1, -1) == 1 && run_shell(has_9, 9, -1) == 0);
	CHECK(run_shell(has_9, 9, STDIN_FILENO) == 0);
	close(9);
	fd_close(&one);
	fd_close(&other);
}

/* A process of its own: no terminal, no folder, and nobody ends it politely. */
static bool has_left(void)
{
	struct sigaction now;
	struct stat null, out;
	char cwd[8];

	proc_leave_terminal();
	return getsid(0) == getpid() && stat("/dev/null", &null) == 0 &&
	       fstat(STDOUT_FILENO, &out) == 0 && null.st_rdev == out.st_rdev &&
	       S_ISCHR(out.st_mode) && sigaction(SIGTERM, NULL, &now) == 0 &&
	       now.sa_handler == SIG_IGN &&
	       sigaction(SIGPIPE, NULL, &now) == 0 &&
	       now.sa_handler == SIG_DFL && getcwd(cwd, sizeof(cwd)) &&
	       strcmp(cwd, "/") == 0;
}

static void check_leaving(void)
{
	int status = 0;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0)
		_exit(has_left() ? 0 : 1);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

static void check_catching(void)
{
	struct sigaction now;
	struct proc_signal s;

	proc_signals_restore(); /* there is nothing to restore */
	fail_call("pipe", 0, ENFILE);
	CHECK(proc_signals_catch(&err) == -ENFILE && has_failed());
	signal(SIGINT, SIG_IGN);
	CHECK(proc_signals_catch(&err) == 0);
	CHECK(sigaction(SIGINT, NULL, &now) == 0 && now.sa_handler == SIG_IGN);
	raise(SIGTERM);
	CHECK(proc_signals_next(&s) && s.signo == SIGTERM);
	CHECK(!proc_signals_next(&s));
	proc_signals_restore();
	CHECK(sigaction(SIGTERM, NULL, &now) == 0 && now.sa_handler == SIG_DFL);
	signal(SIGINT, SIG_DFL);
}

/* Last: these signals do nothing else from then on. */
static void check_reading(void)
{
	struct signalfd_siginfo got;
	int fd;

	fail_call("sigprocmask", 0, EINVAL);
	CHECK(signals_open(true, &err) == -EINVAL && has_failed());
	fail_call("signalfd", 0, EMFILE);
	CHECK(signals_open(true, &err) == -EMFILE && has_failed());
	CHECK(strncmp(err.text, "signalfd: ", 10) == 0);
	fd = signals_open(true, &err);
	CHECK(fd >= 0);
	raise(SIGTERM);
	CHECK(read(fd, &got, sizeof(got)) == sizeof(got) &&
	      got.ssi_signo == SIGTERM);
	raise(SIGCHLD);
	CHECK(read(fd, &got, sizeof(got)) == sizeof(got) &&
	      got.ssi_signo == SIGCHLD);
	CHECK(read(fd, &got, sizeof(got)) < 0 && errno == EAGAIN);
	fd_close(&fd);
}

static int in_place(void *ctx, char *const *argv)
{
	return argv[0][0] == 'x' ? *(const int *)ctx : 1;
}

/* What a child does in the place of a program, and what it is given. */
static void proc_run_in_place(void)
{
	char word[] = "x", *argv[] = {word, NULL};
	int want = 42, status = 0;
	struct proc_opts o = {.argv = argv,
			      .in = -1,
			      .out = -1,
			      .err = -1,
			      .keep = -1,
			      .run = in_place,
			      .ctx = &want};
	pid_t pid;

	CHECK(proc_spawn(&o, &pid, &err) == 0 &&
	      waitpid(pid, &status, 0) == pid && proc_status(status) == 42);
}

int main(void)
{
	proc_run_in_place();
	char dir[] = "/tmp/membrane-failing-XXXXXX";

	a = arena_new();
	CHECK(mkdtemp(dir) != NULL);
	top = dir;
	check_writing();
	check_folders();
	check_replacing();
	check_programs();
	check_leaving();
	check_catching();
	check_reading();
	CHECK(fileio_remove_tree(AT_FDCWD, dir, &err) == 0);
	arena_free(a);
	return check_status();
}
