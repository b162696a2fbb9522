#include "runtime/gate/packet/nfnl.h"

#include <errno.h>
#include <linux/netfilter/nfnetlink.h>
#include <sys/socket.h>

#define QUEUE_BYTES (1 << 20)

struct mnl_socket *nfnl_open(unsigned groups)
{
	struct mnl_socket *nl =
		mnl_socket_open2(NETLINK_NETFILTER, SOCK_CLOEXEC);
	int why;

	if (nl && mnl_socket_bind(nl, groups, MNL_SOCKET_AUTOPID) == 0)
		return nl;
	why = errno;
	if (nl)
		mnl_socket_close(nl);
	errno = why;
	return NULL;
}

void nfnl_widen(struct mnl_socket *nl)
{
	int fd = mnl_socket_get_fd(nl), size = QUEUE_BYTES;

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) < 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
}

struct nlmsghdr *nfnl_begin(void *room, unsigned subsystem, unsigned message,
			    unsigned flags, uint32_t seq)
{
	struct nlmsghdr *h = mnl_nlmsg_put_header(room);
	struct nfgenmsg *g;

	h->nlmsg_type = (uint16_t)(subsystem << 8 | message);
	h->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags);
	h->nlmsg_seq = seq;
	g = mnl_nlmsg_put_extra_header(h, sizeof(*g));
	g->nfgen_family = AF_UNSPEC;
	g->version = NFNETLINK_V0;
	return h;
}

int nfnl_read(struct mnl_socket *nl, unsigned reads, mnl_cb_t visit, void *data,
	      uint64_t *out_lost)
{
	uint64_t room[4096];

	*out_lost = 0;
	for (unsigned i = 0; i < reads; i++) {
		ssize_t n = recv(mnl_socket_get_fd(nl), room, sizeof(room),
				 MSG_DONTWAIT);

		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n >= 0)
			(void)mnl_cb_run(room, (size_t)n, 0, 0, visit, data);
		else if (errno == ENOBUFS)
			++*out_lost;
		else
			return -errno;
	}
	return 0;
}
