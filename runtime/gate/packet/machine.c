#include "runtime/gate/packet/machine.h"

#include "compiler/base/agent_link.h"
#include "compiler/base/limits.h"
#include "compiler/plan/docker_json.h"
#include "runtime/gate/packet/link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 128

static int listen_on(uint16_t port, int *out, struct err *err)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_port = htons(port)};
	auto_fd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int on = 1;

	if (inet_pton(AF_INET, LINK_MACHINE_V4, &at.sin_addr) != 1 || fd < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 ||
	    listen(fd, BACKLOG) < 0)
		return err_set(err, -errno, "host:%u: %s", port,
			       strerror(errno));
	*out = fd;
	fd = -1;
	return 0;
}

static int hand_over(const int *fds, uint32_t n, const char *to,
		     struct err *err)
{
	_Alignas(struct cmsghdr) char
		room[CMSG_SPACE(LIMIT_MACHINE_PORTS * sizeof(int))];
	char word[] = DOCKER_JSON_PORTS_WORD;
	struct iovec text = {word, sizeof(word) - 1};
	struct msghdr h = {.msg_iov = &text,
			   .msg_iovlen = 1,
			   .msg_control = room,
			   .msg_controllen = CMSG_SPACE(n * sizeof(int))};
	struct cmsghdr *c = CMSG_FIRSTHDR(&h);
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	auto_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	memset(room, 0, sizeof(room));
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(n * sizeof(int));
	memcpy(CMSG_DATA(c), fds, n * sizeof(int));
	if (strlen(to) >= sizeof(at.sun_path))
		return err_set(err, -ENAMETOOLONG, "%s", to);
	strcpy(at.sun_path, to);
	if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0 ||
	    sendmsg(fd, &h, MSG_NOSIGNAL) < 0)
		return err_set(err, -errno, "the launcher's socket: %s",
			       strerror(errno));
	return 0;
}

int machine_open(const uint16_t *ports, uint32_t n, const char *to,
		 struct err *err)
{
	int fds[LIMIT_MACHINE_PORTS], rc;
	uint32_t made = 0;

	if (n == 0)
		return 0;
	rc = link_machine_up(err);
	for (; rc == 0 && made < n; made += rc == 0)
		rc = listen_on(ports[made], &fds[made], err);
	if (rc == 0)
		rc = hand_over(fds, n, to, err);
	for (uint32_t i = 0; i < made; i++)
		close(fds[i]);
	return rc;
}
