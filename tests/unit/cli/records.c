#include "compiler/cli/account/records.h"

#include "compiler/base/arena.h"
#include "compiler/base/sys/fileio.h"
#include "compiler/base/sys/proc.h"
#include "runtime/launch/session/decisions.h"
#include "tests/check.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_MS	 10000
#define AGAIN_MS 50

/* A job that follows a session's records at a terminal. */
struct job {
	struct arena *a;
	struct metadata about; /* as others know it, without the lock */
	struct session held;
	int tty, tells; /* a letter for each call */
};

static void tell(const struct job *j, char letter)
{
	CHECK(write(j->tells, &letter, 1) == 1);
}

static void on_line(void *ctx, struct str line)
{
	CHECK(str_is(line, "{}\n"));
	tell(ctx, 'l');
}

static void on_read(void *ctx)
{
	tell(ctx, 'r');
}

/* With that the session is over. */
static void on_keys(void *ctx)
{
	struct job *j = ctx;
	char key[8];

	tell(j, 'k');
	CHECK(read(j->tty, key, sizeof(key)) == 2 && key[0] == 'x');
	session_release(&j->held, false);
}

static void on_going_on(int signo)
{
	(void)signo;
}

static int follow(struct job *j)
{
	struct records r = {
		.a = j->a,
		.about = &j->about,
		.on_line = on_line,
		.on_read = on_read,
		.on_keys = on_keys,
		.keys = j->tty,
		.ctx = j,
		.out = STDOUT_FILENO,
	};
	struct err err;

	signal(SIGCONT, on_going_on);
	CHECK(records_read(&r, true, &err) == 0);
	records_done(&r);
	return check_status();
}

/* --- its shell ------------------------------------------------------------ */

/* It may read more often than there is something to read. */
static bool hears(int line, int fd, char letter)
{
	struct pollfd p = {fd, POLLIN, 0};
	char got;

	do
		if (poll(&p, 1, WAIT_MS) != 1 || read(fd, &got, 1) != 1)
			got = '-';
	while (got == 'r' && letter != 'r');
	CHECK_MSG(got == letter, "line %d: '%c' for '%c'", line, got, letter);
	return got == letter;
}

static void add_line(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	CHECK(fd >= 0 && write(fd, "{}\n", 3) == 3);
	close(fd);
}

/* It may not wait yet when the first one comes. */
static void goes_on(pid_t job, int fd)
{
	struct pollfd p = {fd, POLLIN, 0};
	int left = WAIT_MS / AGAIN_MS;

	do
		kill(job, SIGCONT);
	while (poll(&p, 1, AGAIN_MS) == 0 && --left > 0);
	CHECK(hears(__LINE__, fd, 'r'));
}

static void drop_told(int fd)
{
	struct pollfd p = {fd, POLLIN, 0};
	char got;

	while (poll(&p, 1, AGAIN_MS) == 1 && read(fd, &got, 1) == 1)
		CHECK(got == 'r');
}

/*
 * In the background what is typed is another's, whatever is recorded meanwhile;
 * in front again it is read, and no signal says when that is.
 */
static void check_background(struct job *j, int person)
{
	const char *path = decisions_path(j->a, j->about.session.dir, 0);
	int told[2], status = -1;
	pid_t job;

	CHECK(pipe(told) == 0);
	add_line(path);
	job = fork();
	if (job == 0) {
		setpgid(0, 0);
		j->tells = told[1];
		close(told[0]);
		_exit(follow(j));
	}
	setpgid(job, job);
	close(j->held.lock_fd); /* its alone */
	CHECK(hears(__LINE__, told[0], 'l'));
	CHECK(write(person, "x\n", 2) == 2);
	add_line(path);
	CHECK(hears(__LINE__, told[0], 'l'));
	drop_told(told[0]);
	goes_on(job, told[0]);
	drop_told(told[0]);
	CHECK(tcsetpgrp(j->tty, job) == 0);
	if (!hears(__LINE__, told[0], 'k'))
		kill(job, SIGKILL);
	CHECK(waitpid(job, &status, WUNTRACED) == job);
	CHECK_MSG(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x",
		  (unsigned)status);
	if (!WIFEXITED(status))
		kill(job, SIGKILL);
}

/* In a session of its own, whose terminal that is. */
static int sit_at(const char *terminal, int person, const char *state)
{
	struct job j = {.a = arena_new()};
	struct err err;

	setsid();
	j.tty = open(terminal, O_RDWR);
	CHECK(session_new(j.a, state, &j.held, &err) == 0);
	j.about.session = j.held;
	j.about.session.lock_fd = -1;
	check_background(&j, person);
	arena_free(j.a);
	return check_status();
}

int main(void)
{
	char state[] = "/tmp/membrane-records-XXXXXX";
	int person = posix_openpt(O_RDWR | O_NOCTTY);
	int status = -1;
	struct err err;
	pid_t pid;

	CHECK(person >= 0 && grantpt(person) == 0 && unlockpt(person) == 0);
	CHECK(mkdtemp(state) != NULL);
	pid = fork();
	if (pid == 0)
		_exit(sit_at(ptsname(person), person, state));
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(proc_status(status) == 0);
	CHECK(fileio_remove_tree(AT_FDCWD, state, &err) == 0);
	return check_status();
}
