/* Who a process of the gate's becomes, where its namespace has that user and
 * where it has none but the gate's own. */
#include "runtime/gate/l7/user.h"

#include "compiler/plan/gate.h"
#include "tests/check.h"

#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* In a child: it stays whoever it has become. */
static int run(int (*body)(void))
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(body());
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int become_there(void)
{
	char before[64] = "", after[64] = "";

	if (user_there(GATE_UID) != GATE_UID ||
	    readlink("/proc/self/ns/user", before, sizeof(before) - 1) < 0)
		return 1;
	if (user_become(GATE_UID, GATE_UID) < 0)
		return 2;
	/* for good, and where it is */
	return getuid() == GATE_UID && getegid() == GATE_UID && setuid(0) < 0 &&
			       readlink("/proc/self/ns/user", after,
					sizeof(after) - 1) > 0 &&
			       strcmp(before, after) == 0
		       ? 0
		       : 3;
}

static bool write_line(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) > 0;

	close(fd);
	return ok;
}

#define NOT_HERE 77

/* As root of a namespace that has nobody else. */
static int become_nested(void)
{
	char uids[64], gids[64];

	snprintf(uids, sizeof(uids), "0 %u 1", geteuid());
	snprintf(gids, sizeof(gids), "0 %u 1", getegid());
	if (unshare(CLONE_NEWUSER) < 0 ||
	    !write_line("/proc/self/setgroups", "deny") ||
	    !write_line("/proc/self/uid_map", uids) ||
	    !write_line("/proc/self/gid_map", gids))
		return NOT_HERE;
	if (user_there(GATE_UID) != 0)
		return 1;
	/* the first descriptor is one like any other */
	close(0);
	if (user_become(GATE_UID, 0) < 0)
		return 2;
	return getuid() == GATE_UID && getgid() == 0 ? 0 : 3;
}

int main(void)
{
	int rc = run(become_nested);

	CHECK_MSG(rc == 0 || rc == NOT_HERE, "it says %d", rc);
	if (geteuid() == 0)
		CHECK(run(become_there) == 0);
	return check_status();
}
