#include "runtime/gate/packet/conntrack.h"

#include "runtime/gate/packet/nfnl.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <string.h>
#include <sys/socket.h>

#define SEQ 1

static void close_nl(struct mnl_socket **nl)
{
	if (*nl)
		mnl_socket_close(*nl);
}
#define auto_nl __attribute__((cleanup(close_nl)))

/* One message of conntrack's, about those whose status has that bit (0: about
 * all), and what the kernel says to it. */
static int ask_kernel(unsigned message, uint32_t status, struct err *err)
{
	auto_nl struct mnl_socket *nl = nfnl_open(0);
	uint64_t room[1024];
	struct nlmsghdr *h = nfnl_begin(room, NFNL_SUBSYS_CTNETLINK, message,
					NLM_F_ACK, SEQ);
	ssize_t n;

	if (status) {
		mnl_attr_put_u32(h, CTA_STATUS, htonl(status));
		mnl_attr_put_u32(h, CTA_STATUS_MASK, htonl(status));
	}
	if (!nl || mnl_socket_sendto(nl, h, h->nlmsg_len) < 0)
		return err_set(err, -errno, "conntrack: %s", strerror(errno));
	/* The kernel has answered when sending returns. */
	do {
		n = recv(mnl_socket_get_fd(nl), room, sizeof(room),
			 MSG_DONTWAIT);
		if (n >= 0)
			n = mnl_cb_run(room, (size_t)n, SEQ,
				       mnl_socket_get_portid(nl), NULL, NULL);
	} while (n > 0);
	if (n < 0)
		return err_set(err, -errno, "conntrack: %s", strerror(errno));
	return 0;
}

int conntrack_check(struct err *err)
{
	return ask_kernel(IPCTNL_MSG_CT_GET_STATS, 0, err);
}

int conntrack_forget(struct err *err)
{
	return ask_kernel(IPCTNL_MSG_CT_DELETE, IPS_SRC_NAT, err);
}
