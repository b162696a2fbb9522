#include "runtime/launch/ports/published.h"

#include "compiler/base/sys/proc.h"
#include "compiler/base/sys/sockaddr.h"
#include "compiler/plan/docker_json.h"
#include "runtime/forward/forward.h"
#include "runtime/launch/ports/parts.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 128

static int say_port(const struct vectors_published *at, int rc, struct err *err)
{
	char text[ADDR_TEXT_MAX];

	addr_text(&at->addr, text);
	if (rc == -EADDRINUSE)
		return err_set(
			err, rc,
			"port %u of %s is taken: publish another, as in '%u:%u'",
			at->port, text,
			at->port < UINT16_MAX ? at->port + 1u : at->port - 1u,
			at->port);
	return err_set(err, rc, "port %u of %s: %s", at->port, text,
		       strerror(-rc));
}

static int open_port(const struct vectors_published *at, int *out,
		     struct err *err)
{
	struct sockaddr_storage sa;
	socklen_t size = sockaddr_put(&at->addr, at->port, &sa);
	auto_fd int fd = socket(sa.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int on = 1;

	if (fd < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    (sa.ss_family == AF_INET6 &&
	     setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)) < 0) ||
	    bind(fd, (const struct sockaddr *)&sa, size) < 0 ||
	    listen(fd, BACKLOG) < 0)
		return say_port(at, -errno, err);
	*out = fd;
	fd = -1;
	return 0;
}

/* It is there until the gate has come, and has done nothing else then. */
static void run_porter(int listen, const int *fds, uint32_t n, pid_t parent)
{
	struct err ignored;
	int gate = ports_await(listen, parent);

	_exit(gate < 0 || forward_hand(gate, fds, n, &ignored) < 0);
}

int published_start(const char *dir, const struct vectors_published *at,
		    uint32_t n, struct published *out, struct err *err)
{
	auto_fd int listen = -1;
	int fds[LIMIT_PUBLISHED], rc = 0;
	pid_t self = getpid();
	uint32_t made = 0;

	if (n == 0)
		return 0;
	for (; rc == 0 && made < n; made += rc == 0)
		rc = open_port(&at[made], &fds[made], err);
	if (rc == 0)
		rc = ports_listen(dir, DOCKER_JSON_PUBLISHED_SOCKET, &listen,
				  err);
	if (rc == 0) {
		pid_t pid = fork();

		if (pid == 0)
			run_porter(listen, fds, n, self);
		if (pid < 0)
			rc = err_errno(err, "fork");
		else
			out->pid = pid;
	}
	for (uint32_t i = 0; i < made; i++)
		close(fds[i]);
	return rc;
}

void published_stop(struct published *p)
{
	ports_end(&p->pid);
}
