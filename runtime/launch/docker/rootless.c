#include "runtime/launch/docker/rootless.h"

#include "compiler/base/sys/fileio.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* A namespace is left by nobody of ours: these are facts of the process. */
static bool has_entered;
static uid_t user_outside;

/* Who listens at a socket; pid 0 where that cannot be told. */
static struct ucred listener_of(const char *path)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	struct ucred who = {0};
	socklen_t n = sizeof(who);
	/* one that is too busy to be asked is asked, and waited for, later */
	auto_fd int fd =
		socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0 || strlen(path) >= sizeof(at.sun_path))
		return (struct ucred){0};
	memcpy(at.sun_path, path, strlen(path));
	if (connect(fd, (const struct sockaddr *)&at, sizeof(at)) < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) < 0)
		return (struct ucred){0};
	return who;
}

static int open_namespace(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%ld/ns/%s", (long)pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static bool is_own_namespace(int fd, const char *name)
{
	auto_fd int own = open_namespace(getpid(), name);
	struct stat x, y;

	return own >= 0 && fstat(own, &x) == 0 && fstat(fd, &y) == 0 &&
	       x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static int another_user(const struct endpoint *e, const struct ucred *who,
			struct err *err)
{
	return err_set(
		err, -EPERM,
		"Docker at %s is rootless and user %u's, this is user %u: sessions of it are that user's alone",
		e->socket, (unsigned)who->uid, (unsigned)geteuid());
}

static int join_namespaces(int users, int mounts, struct err *err)
{
	char folder[PATH_MAX];
	bool knows = getcwd(folder, sizeof(folder)) != NULL;
	uid_t user = geteuid();

	if (setns(users, CLONE_NEWUSER) < 0)
		return err_errno(
			err,
			"entering the namespace of users of the rootless Docker");
	has_entered = true;
	user_outside = user;
	if (setns(mounts, CLONE_NEWNS) < 0)
		return err_errno(
			err,
			"entering the namespace of mounts of the rootless Docker");
	return !knows || chdir(folder) == 0 ? 0 : err_errno(err, folder);
}

int rootless_enter(const struct endpoint *e, struct err *err)
{
	auto_fd int users = -1;
	auto_fd int mounts = -1;
	struct ucred who;

	if (!e->socket || has_entered)
		return 0;
	who = listener_of(e->socket);
	/* root's, or nobody whom this process can see */
	if (who.pid <= 0 || who.uid == 0)
		return 0;
	users = open_namespace(who.pid, "user");
	mounts = open_namespace(who.pid, "mnt");
	/* somebody else's, as one that passes requests on to root's is */
	if (users < 0 || mounts < 0 || is_own_namespace(users, "user"))
		return 0;
	if (who.uid != geteuid())
		return another_user(e, &who, err);
	return join_namespaces(users, mounts, err);
}

bool rootless_entered(void)
{
	return has_entered;
}

uid_t rootless_user(void)
{
	return has_entered ? user_outside : geteuid();
}
