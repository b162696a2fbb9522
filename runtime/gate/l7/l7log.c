#include "runtime/gate/l7/l7log.h"

#include "compiler/base/sys/sysctl.h"
#include "runtime/gate/l7/clients.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#define QUEUE_LINES "4096"

int l7log_open(struct l7log *log, const char *path, struct err *err)
{
	auto_fd int fd = -1;
	int on = 1;

	/* In a container it is set from outside; either way the default will
	 * do. */
	(void)sysctl_put("net/unix/max_dgram_qlen", QUEUE_LINES);
	fd = clients_bind(SOCK_DGRAM, path, err);
	if (fd < 0)
		return fd;
	if (setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0)
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	log->fd = fd;
	fd = -1;
	return 0;
}

/* One datagram, and who sent it. */
static ssize_t receive_line(int fd, char buf[LOGLINE_MAX], pid_t *pid)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(struct ucred))];
	} control = {.room = {0}};
	struct iovec io = {buf, LOGLINE_MAX};
	struct msghdr m = {.msg_iov = &io,
			   .msg_iovlen = 1,
			   .msg_control = &control,
			   .msg_controllen = sizeof(control)};
	ssize_t got = recvmsg(fd, &m, MSG_DONTWAIT);
	const struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	struct ucred from = {0};

	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS)
		memcpy(&from, CMSG_DATA(c), sizeof(from));
	*pid = from.pid;
	return got;
}

/* Before each line that is kept. */
struct kept_head {
	size_t n;
	pid_t pid;
};

bool l7log_keep(struct l7log *log)
{
	while (L7LOG_KEEP - log->kept >=
	       sizeof(struct kept_head) + LOGLINE_MAX) {
		char *at = log->lines + log->kept;
		struct kept_head head = {0};
		ssize_t got =
			receive_line(log->fd, at + sizeof(head), &head.pid);

		if (got < 0)
			return true;
		head.n = (size_t)got;
		memcpy(at, &head, sizeof(head));
		log->kept += sizeof(head) + head.n;
	}
	return false;
}

static unsigned read_kept(struct l7log *log, l7log_fn *fn, void *data)
{
	struct logline line;
	unsigned n = 0;

	for (size_t at = 0; at < log->kept; n++) {
		struct kept_head head;

		memcpy(&head, log->lines + at, sizeof(head));
		at += sizeof(head);
		if (logline_parse((struct str){log->lines + at, head.n}, &line))
			fn(data, head.pid, &line);
		at += head.n;
	}
	log->kept = 0;
	return n;
}

unsigned l7log_read(struct l7log *log, l7log_fn *fn, void *data)
{
	unsigned n = read_kept(log, fn, data);
	char buf[LOGLINE_MAX];
	struct logline line;

	for (; n < L7LOG_READS_MAX; n++) {
		pid_t pid;
		ssize_t got = receive_line(log->fd, buf, &pid);

		if (got < 0)
			break;
		if (logline_parse((struct str){buf, (size_t)got}, &line))
			fn(data, pid, &line);
	}
	return n;
}
