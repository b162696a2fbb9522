#include "runtime/gate/l7/user.h"

#include "compiler/base/err.h"

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <unistd.h>

/* One that the namespace does not have changes nothing. */
uid_t user_there(uid_t uid)
{
	uid_t own = (uid_t)setfsuid(uid);
	bool there = (uid_t)setfsuid(own) == uid;

	return there ? uid : own;
}

static int write_line(const char *path, const char *text)
{
	auto_fd int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text)
		       ? -1
		       : 0;
}

static int nest_user(uid_t uid, gid_t gid)
{
	char users[64], groups[64];

	snprintf(users, sizeof(users), "%u %u 1", uid, geteuid());
	snprintf(groups, sizeof(groups), "%u %u 1", gid, getegid());
	if (unshare(CLONE_NEWUSER) < 0 ||
	    write_line("/proc/self/setgroups", "deny") < 0 ||
	    write_line("/proc/self/uid_map", users) < 0)
		return -1;
	return write_line("/proc/self/gid_map", groups);
}

int user_become(uid_t uid, gid_t gid)
{
	if (user_there(uid) != uid)
		return nest_user(uid, gid);
	if (setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0)
		return -1;
	return setresuid(uid, uid, uid);
}
