#include "runtime/launch/tokens/uplink.h"

#include "compiler/base/sys/proc.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define BACKLOG 4

/* With the address behind the words of the plan. */
static int words_of(struct arena *a, const struct vector *v,
		    const struct vectors_values *values, const char *addr,
		    const char *port, vectors_words *out, struct err *err)
{
	char **argv;
	int rc = vectors_expand(a, v, values, &argv, err);

	if (rc < 0)
		return rc;
	for (; *argv; argv++)
		*vec_push(a, out) = *argv;
	*vec_push(a, out) = arena_cstr(a, str_of(addr));
	*vec_push(a, out) = arena_cstr(a, str_of(port));
	*vec_push(a, out) = NULL;
	return 0;
}

int uplink_open(struct arena *a, const struct vector *v,
		const struct vectors_values *values, const char *addr,
		const char *port, struct uplink *out, struct err *err)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	socklen_t size = sizeof(sa.sun_family);
	vectors_words words = {0};
	int rc;

	*out = (struct uplink){.listener = -1};
	rc = words_of(a, v, values, addr, port, &words, err);
	if (rc < 0)
		return rc;
	out->argv = words.v;
	out->listener =
		socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* Without a name the kernel chooses one: a zero and five digits. */
	if (out->listener < 0 ||
	    bind(out->listener, (struct sockaddr *)&sa, size) < 0 ||
	    listen(out->listener, BACKLOG) < 0)
		return err_errno(err, "a socket");
	size = sizeof(sa);
	if (getsockname(out->listener, (struct sockaddr *)&sa, &size) < 0)
		return err_errno(err, "a socket");
	snprintf(out->name, sizeof(out->name), "%.*s",
		 (int)(size - offsetof(struct sockaddr_un, sun_path) - 1),
		 sa.sun_path + 1);
	return 0;
}

int uplink_take(struct uplink *u, struct err *err)
{
	struct proc_opts o = {
		.argv = u->argv, .group = PROC_SESSION, .err = -1, .keep = -1};
	auto_fd int fd = accept4(u->listener, NULL, NULL, SOCK_CLOEXEC);
	struct ucred who = {0};
	socklen_t size = sizeof(who);

	if (fd < 0)
		return errno == EAGAIN || errno == EINTR ||
				       errno == ECONNABORTED
			       ? 0
			       : err_errno(err, "accept");
	/* Anybody of this host could find it. */
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) < 0 ||
	    who.pid != getpid())
		return 0;
	fd_close(&u->listener);
	u->listener = -1;
	o.in = o.out = fd;
	return proc_spawn(&o, &u->pid, err);
}

void uplink_done(struct uplink *u)
{
	struct pollfd p = {-1, POLLIN, 0};

	fd_close(&u->listener);
	u->listener = -1;
	if (!u->pid)
		return;
	p.fd = (int)syscall(SYS_pidfd_open, u->pid, 0);
	if (p.fd < 0 || poll(&p, 1, UPLINK_END_MS) <= 0)
		kill(u->pid, SIGKILL);
	fd_close(&p.fd);
	waitpid(u->pid, NULL, 0);
	u->pid = 0;
}
