/*
 * Whose namespaces are entered, and whose are not: by a stand-in for a daemon,
 * which has some of its own and answers at a socket.
 */
#include "runtime/launch/docker/rootless.h"

#include "compiler/base/sys/fileio.h"
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define USER 61000u /* nobody's; who is root becomes that */

static char dir[] = "/tmp/membrane-rootless.XXXXXX";
static char path[64];

static int listen_at(const char *at)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s", at);
	if (bind(fd, (const struct sockaddr *)&sun, sizeof(sun)) < 0 ||
	    chmod(at, 0666) < 0 || listen(fd, 8) < 0)
		_exit(1);
	return fd;
}

static bool write_line(const char *name, const char *text)
{
	struct err err;

	return fileio_write(AT_FDCWD, name, str_of(text), 0600, &err) == 0;
}

/* /proc does not take a file in the place of one. */
static bool write_map(const char *name, const char *text)
{
	FILE *f = fopen(name, "we");
	bool ok = f && fputs(text, f) >= 0;

	return f && fclose(f) == 0 && ok;
}

static void become_user(void)
{
	if (geteuid() == 0 && (setresgid(USER, USER, USER) < 0 ||
			       setresuid(USER, USER, USER) < 0))
		_exit(1);
	/* as a program that was started by that user is */
	prctl(PR_SET_DUMPABLE, 1);
}

/* 77: no namespaces are to be had here. */
static void serve_alone(int ready, int end, bool own_users)
{
	char line[64], c = 'r';

	become_user();
	snprintf(line, sizeof(line), "0 %u 1\n", (unsigned)geteuid());
	if (own_users && (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0 ||
			  !write_map("/proc/self/uid_map", line)))
		_exit(77);
	listen_at(path);
	if (write(ready, &c, 1) != 1)
		_exit(1);
	ignore(read(end, &c, 1));
	_exit(0);
}

struct daemon {
	pid_t pid;
	int end;
};

static bool start_daemon(struct daemon *d, bool own_users)
{
	int ready[2], end[2];
	char c;

	unlink(path);
	CHECK(pipe(ready) == 0 && pipe(end) == 0);
	fflush(stdout);
	d->pid = fork();
	if (d->pid == 0) {
		close(end[1]);
		serve_alone(ready[1], end[0], own_users);
	}
	close(ready[1]);
	close(end[0]);
	d->end = end[1];
	c = read(ready[0], &c, 1) == 1;
	close(ready[0]);
	return c;
}

static int end_daemon(struct daemon *d)
{
	int status = 0;

	close(d->end);
	CHECK(waitpid(d->pid, &status, 0) == d->pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool same_namespace(const struct daemon *d, const char *name)
{
	char own[64], its[64];
	struct stat x, y;

	snprintf(own, sizeof(own), "/proc/self/ns/%s", name);
	snprintf(its, sizeof(its), "/proc/%ld/ns/%s", (long)d->pid, name);
	return stat(own, &x) == 0 && stat(its, &y) == 0 && x.st_ino == y.st_ino;
}

/* --- its own user --------------------------------------------------------- */

/* What a user of the daemon at path finds; 0 when all is as it should be. */
static int enter_as_user(const struct daemon *d)
{
	struct endpoint at = {.socket = path};
	char folder[sizeof(dir) + 8];
	struct err err;
	uid_t user;

	become_user();
	user = geteuid();
	if (chdir(dir) < 0 || rootless_entered() || rootless_user() != user)
		return 2;
	if (rootless_enter(&at, &err) < 0)
		return 3;
	if (!rootless_entered() || geteuid() != 0 || rootless_user() != user)
		return 4;
	if (!same_namespace(d, "user") || !same_namespace(d, "mnt") ||
	    !getcwd(folder, sizeof(folder)) || strcmp(folder, dir) != 0)
		return 5;
	if (rootless_enter(&at, &err) < 0) /* there already */
		return 6;
	return write_line("made", "x\n") ? 0 : 7;
}

static int of_child(int fn(const struct daemon *), const struct daemon *d)
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(fn(d));
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int enter_from_nowhere(const struct daemon *d)
{
	struct endpoint at = {.socket = path};
	struct err err;

	become_user();
	if (mkdir("gone", 0700) < 0 || chdir("gone") < 0 ||
	    rmdir("../gone") < 0)
		return 2;
	return rootless_enter(&at, &err) < 0 || !same_namespace(d, "mnt");
}

static void check_own(void)
{
	struct daemon d;
	struct stat st;
	struct err err;

	if (!start_daemon(&d, true)) {
		CHECK(end_daemon(&d) == 77);
		printf("skip: no namespaces of users here\n");
		return;
	}
	CHECK(of_child(enter_as_user, &d) == 0);
	CHECK(stat("made", &st) == 0 &&
	      st.st_uid == (geteuid() == 0 ? USER : geteuid()));
	CHECK(of_child(enter_from_nowhere, &d) == 0);
	if (geteuid() == 0) {
		struct endpoint at = {.socket = path};

		CHECK(rootless_enter(&at, &err) == -EPERM);
		CHECK(strstr(err.text, " is rootless and user 61000's, "
				       "this is user 0: "));
		CHECK(!rootless_entered() && geteuid() == 0);
	}
	CHECK(end_daemon(&d) == 0);
}

/* --- nobody to follow ----------------------------------------------------- */

static int stay_as_user(const struct daemon *d)
{
	struct endpoint at = {.socket = path};
	struct err err;

	become_user();
	return rootless_enter(&at, &err) < 0 || rootless_entered() ||
	       !same_namespace(d, "mnt");
}

/* One without namespaces of its own, one that has ended, none, and a name. */
static void check_others(void)
{
	struct endpoint at = {.base = "http://localhost"};
	char longest[200];
	struct daemon d;
	struct err err;

	CHECK(start_daemon(&d, false));
	CHECK(of_child(stay_as_user, &d) == 0);
	CHECK(end_daemon(&d) == 0);
	CHECK(rootless_enter(&at, &err) == 0 && !rootless_entered());
	at.socket = path;
	CHECK(rootless_enter(&at, &err) == 0 && !rootless_entered());
	unlink(path);
	CHECK(rootless_enter(&at, &err) == 0 && !rootless_entered());
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	at.socket = longest;
	CHECK(rootless_enter(&at, &err) == 0 && !rootless_entered());
}

int main(void)
{
	struct err err;

	CHECK(mkdtemp(dir) != NULL && chmod(dir, 0777) == 0 && chdir(dir) == 0);
	snprintf(path, sizeof(path), "%s/socket", dir);
	check_own();
	check_others();
	CHECK(chdir("/") == 0 && fileio_remove_tree(AT_FDCWD, dir, &err) == 0);
	return check_status();
}
