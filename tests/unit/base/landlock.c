/*
 * What is left of the machine's files to a process that gave them up.
 */
#include "compiler/base/sys/landlock.h"

#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char top[] = "/tmp/landlock.XXXXXX";

static bool is_on(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0,
		       LANDLOCK_CREATE_RULESET_VERSION) >= 1;
}

static bool is_refused(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);
	bool refused = fd < 0 && errno == EACCES;

	if (fd >= 0)
		close(fd);
	return refused;
}

static void in_a_folder(void)
{
	int dir = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	CHECK(landlock_confine(dir) == 0);
	CHECK(openat(dir, "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600) >= 0);
	CHECK(is_refused("/etc/passwd", O_RDONLY));
	CHECK(is_refused("/tmp/landlock-beside", O_WRONLY | O_CREAT));
}

static void nowhere(void)
{
	CHECK(landlock_confine(-1) == 0);
	CHECK(is_refused("/etc/passwd", O_RDONLY));
	CHECK(is_refused(top, O_RDONLY | O_DIRECTORY));
}

/* Nothing is given up halfway. */
static void no_folder(void)
{
	CHECK(landlock_confine(9999) == EBADF);
	CHECK(!is_refused("/etc/passwd", O_RDONLY));
}

static void in_a_child(void (*try)(void))
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		try();
		_exit(check_status());
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

int main(void)
{
	char file[64];

	CHECK(mkdtemp(top));
	if (is_on()) {
		in_a_child(in_a_folder);
		in_a_child(nowhere);
		in_a_child(no_folder);
		snprintf(file, sizeof(file), "%s/file", top);
		CHECK(unlink(file) == 0);
	}
	CHECK(rmdir(top) == 0);
	return check_status();
}
