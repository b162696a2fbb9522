#include "compiler/base/sys/fdpass.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

union control {
	struct cmsghdr align;
	char room[CMSG_SPACE(sizeof(int))];
};

_Bool fdpass_send(int to, const void *data, size_t n, int fd, int flags)
{
	union control control = {0};
	struct iovec io = {(void *)(uintptr_t)data, n};
	struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1};
	struct cmsghdr *c;
	ssize_t sent;

	if (fd >= 0) {
		m.msg_control = control.room;
		m.msg_controllen = sizeof(control.room);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(int));
	}
	do
		sent = sendmsg(to, &m, flags | MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent == (ssize_t)n;
}

ssize_t fdpass_take(int from, void *data, size_t n, int *out_fd, int flags)
{
	union control control;
	struct iovec io = {data, n};
	struct msghdr m = {.msg_iov = &io,
			   .msg_iovlen = 1,
			   .msg_control = control.room,
			   /* no room for a second one behind it */
			   .msg_controllen = CMSG_LEN(sizeof(int))};
	const struct cmsghdr *c;
	ssize_t got;

	*out_fd = -1;
	do
		got = recvmsg(from, &m, flags | MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	c = got > 0 ? CMSG_FIRSTHDR(&m) : NULL;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(out_fd, CMSG_DATA(c), sizeof(int));
	return got;
}
