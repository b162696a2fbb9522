/* Who listens for questions: as long as it runs, and is not stopped. */
#include "runtime/launch/listeners.h"

#include "compiler/base/sys/fileio.h"
#include "runtime/launch/session/session.h"
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[] = "/tmp/membrane-listeners-XXXXXX";

/* A process that listens, by the time this returns; its name is a trap. */
static pid_t start_listener(void)
{
	struct err err;
	char byte = 0;
	int said[2];
	pid_t pid;
	int fd;

	CHECK(pipe(said) == 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, "x) S 1 (y");
		if (listeners_join(dir, &fd, &err) < 0 ||
		    write(said[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	CHECK(read(said[0], &byte, 1) == 1);
	close(said[0]);
	close(said[1]);
	return pid;
}

static void tell(pid_t pid, int signal, int how)
{
	int status;

	CHECK(kill(pid, signal) == 0);
	CHECK(waitpid(pid, &status, how) == pid);
}

int main(void)
{
	struct err err;
	pid_t one, other;
	char path[64];
	int fd = -1;

	CHECK(mkdtemp(dir) != NULL);
	CHECK(!listeners_any(dir));
	CHECK(listeners_join(dir, &fd, &err) == -ENOENT);
	snprintf(path, sizeof(path), "%s/%s", dir, SESSION_ASKING);
	fd = fileio_create(AT_FDCWD, path, O_WRONLY, 0600);
	CHECK(fd >= 0);
	close(fd);
	CHECK(!listeners_any(dir));
	one = start_listener();
	CHECK(listeners_any(dir));
	tell(one, SIGSTOP, WUNTRACED);
	CHECK(!listeners_any(dir));
	other = start_listener();
	CHECK(listeners_any(dir));
	tell(other, SIGKILL, 0);
	CHECK(!listeners_any(dir));
	tell(one, SIGCONT, WCONTINUED);
	CHECK(listeners_any(dir));
	tell(one, SIGKILL, 0);
	CHECK(!listeners_any(dir));
	unlink(path);
	rmdir(dir);
	return check_status();
}
