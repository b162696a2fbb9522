/*
 * A network and a /run of a test's own, with what the gate finds there:
 * loopback and an empty GATE_DIR. As root it stays that; anybody else is root
 * of a user namespace.
 */
#ifndef TESTS_UNIT_GATE_ROOMS_H
#define TESTS_UNIT_GATE_ROOMS_H

#include "compiler/plan/gate.h"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
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

#endif
