#include "runtime/launch/session/local.h"

#include "compiler/base/sys/fileio.h"
#include "compiler/base/sys/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

typedef int meet(int fd, const struct sockaddr *at, socklen_t n);

/* Call fn with a socket and the name of it, from within the folder. */
static int call_within(const char *dir, const char *name, meet *fn, int *out,
		       struct err *err)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	auto_fd int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_fd int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	int rc = 0;

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", name);
	if (here < 0 || fd < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 ||
	    chdir(dir) < 0)
		return err_errno(err, dir);
	if (fn(fd, (struct sockaddr *)&at, sizeof(at)) < 0)
		rc = err_errno(err, name);
	else if (fn == bind)
		fileio_give(AT_FDCWD, name);
	if (fchdir(here) < 0 && rc == 0)
		rc = err_errno(err, "back to the folder");
	if (rc < 0)
		return rc;
	*out = fd;
	fd = -1;
	return 0;
}

int local_listen(const char *dir, const char *name, int backlog, int *out,
		 struct err *err)
{
	int rc = call_within(dir, name, bind, out, err);

	if (rc < 0)
		return err_while(err, "the session's socket");
	if (listen(*out, backlog) < 0)
		rc = err_errno(err, "the session's socket");
	return rc < 0 ? rc : proc_nonblock(*out, err);
}

int local_connect(const char *dir, const char *name, int *out, struct err *err)
{
	int rc = call_within(dir, name, connect, out, err);

	if (rc == -ECONNREFUSED || rc == -ENOENT)
		return err_set(err, -ENOENT, "nobody listens there");
	return rc < 0 ? err_while(err, "reaching the session") : 0;
}

int local_peer(int fd, uid_t *out, struct err *err)
{
#ifdef SO_PEERCRED
	struct ucred peer;
	socklen_t n = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) < 0)
		return err_errno(err, "who is at the other end");
	*out = peer.uid;
#else
	gid_t group;

	if (getpeereid(fd, out, &group) < 0)
		return err_errno(err, "who is at the other end");
#endif
	return 0;
}
