/* The sockets at which this room's processes wait for the gate. */
#include "compiler/base/sys/proc.h"
#include "runtime/launch/ports/parts.h"
#include "runtime/launch/session/local.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int ports_listen(const char *dir, const char *name, int *out, struct err *err)
{
	auto_fd int folder = -1;
	int rc = local_listen(dir, name, 1, out, err);

	if (rc < 0)
		return rc;
	/* The folder is the user's alone; in the gate nobody is the user. */
	folder = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0 || fchmodat(folder, name, 0666, 0) < 0)
		return err_errno(err, dir);
	return 0;
}

int ports_await(int listen, pid_t parent)
{
	struct pollfd p = {.fd = listen, .events = POLLIN};
	int gate = -1;

	proc_leave_terminal();
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		return -1;
	while (gate < 0) {
		if (poll(&p, 1, -1) < 0 && errno != EINTR)
			return -1;
		gate = accept4(listen, NULL, NULL, SOCK_CLOEXEC);
	}
	return gate;
}

void ports_end(pid_t *pid)
{
	if (*pid == 0)
		return;
	kill(*pid, SIGKILL);
	while (waitpid(*pid, NULL, 0) < 0 && errno == EINTR)
		;
	*pid = 0;
}
