/*
 * A network and a /run of a test's own, with what the gate finds there:
 * loopback and an empty GATE_DIR. As root it stays that; anybody else is root
 * of a user namespace.
 */
#ifndef TESTS_UNIT_GATE_ROOMS_H
#define TESTS_UNIT_GATE_ROOMS_H

#include "compiler/plan/gate.h"

#include <dirent.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOT_HERE 77 /* what a test then ends with */

static inline bool put_line(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) > 0;

	if (fd >= 0)
		close(fd);
	return ok;
}

static inline bool become_root(int more)
{
	char uids[64], gids[64];

	snprintf(uids, sizeof(uids), "0 %u 1", geteuid());
	snprintf(gids, sizeof(gids), "0 %u 1", getegid());
	return unshare(CLONE_NEWUSER | more) == 0 &&
	       put_line("/proc/self/setgroups", "deny") &&
	       put_line("/proc/self/uid_map", uids) &&
	       put_line("/proc/self/gid_map", gids);
}

static inline bool loopback_up(void)
{
	struct ifreq r = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool ok = fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &r) == 0;

	close(fd);
	return ok;
}

/* False: no namespaces of a user's own here, which is said. */
static inline bool enter_room(void)
{
	int rooms = CLONE_NEWNS | CLONE_NEWNET;
	bool ok = geteuid() == 0 ? unshare(rooms) == 0 : become_root(rooms);

	ok = ok && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	     mount("none", "/run", "tmpfs", 0, "mode=0755") == 0 &&
	     mkdir(GATE_DIR, 0755) == 0 && loopback_up();
	if (!ok)
		printf("no namespaces of a user's own here: not tried\n");
	return ok;
}

/*
 * The rest of a test is in a process that knows of no others than its own:
 * whatever is taken for the number of one, nobody else is killed.
 */
static inline void stay_apart(void)
{
	int status = 0;
	pid_t pid = unshare(CLONE_NEWPID) < 0 ? -1 : fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)setpgid(0, 0);
		return;
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		_exit(NOT_HERE);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

/* How many descriptors are open, whatever their numbers; /proc is there. */
static inline unsigned open_files(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

#endif
