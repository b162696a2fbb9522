#include "runtime/gate/packet/machine.h"

#include "compiler/base/agent_link.h"
#include "compiler/base/limits.h"
#include "runtime/forward/forward.h"
#include "runtime/gate/packet/link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 128

static int listen_on(uint16_t port, int *out, struct err *err)
{
	const struct addr own = link_addr(LINK_MACHINE_V4);
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_port = htons(port)};
	auto_fd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int on = 1;

	memcpy(&at.sin_addr, own.b, sizeof(at.sin_addr));
	if (fd < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 ||
	    listen(fd, BACKLOG) < 0)
		return err_set(err, -errno, "host:%u: %s", port,
			       strerror(errno));
	*out = fd;
	fd = -1;
	return 0;
}

int machine_open(const uint16_t *ports, uint32_t n, const char *to,
		 struct err *err)
{
	int fds[LIMIT_MACHINE_PORTS], rc;
	auto_fd int link = -1;
	uint32_t made = 0;

	if (n == 0)
		return 0;
	rc = link_machine_up(err);
	for (; rc == 0 && made < n; made += rc == 0)
		rc = listen_on(ports[made], &fds[made], err);
	if (rc == 0)
		rc = link = forward_connect(to, err);
	if (rc >= 0)
		rc = forward_hand(link, fds, n, err);
	while (made)
		close(fds[--made]);
	return rc;
}
