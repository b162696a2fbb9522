/*
 * The kernel's word on an address, of the moment: rtnetlink.
 */
#include "runtime/broker/parts.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <string.h>

int route_open(struct route *r)
{
	r->seq = 0;
	r->nl = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	if (!r->nl || mnl_socket_bind(r->nl, 0, MNL_SOCKET_AUTOPID) < 0)
		return errno;
	return 0;
}

struct answer {
	bool leaves; /* to one other machine */
	int index;
};

static int take_index(const struct nlattr *attr, void *data)
{
	struct answer *a = data;

	if (mnl_attr_get_type(attr) == RTA_OIF &&
	    mnl_attr_validate(attr, MNL_TYPE_U32) >= 0)
		a->index = (int)mnl_attr_get_u32(attr);
	return MNL_CB_OK;
}

static int take_route(const struct nlmsghdr *h, void *data)
{
	struct answer *a = data;
	const struct rtmsg *rt = mnl_nlmsg_get_payload(h);

	if (h->nlmsg_type != RTM_NEWROUTE ||
	    mnl_nlmsg_get_payload_len(h) < sizeof(*rt))
		return MNL_CB_OK;
	a->leaves = rt->rtm_type == RTN_UNICAST;
	mnl_attr_parse(h, sizeof(*rt), take_index, a);
	return MNL_CB_STOP;
}

int route_interface(struct route *r, const struct addr *to, int *out_index)
{
	uint64_t room[1024]; /* aligned for nlmsghdr; one route */
	struct nlmsghdr *h = mnl_nlmsg_put_header(room);
	struct answer a = {.index = 0};
	struct rtmsg *rt;
	ssize_t n;

	h->nlmsg_type = RTM_GETROUTE;
	h->nlmsg_flags = NLM_F_REQUEST;
	h->nlmsg_seq = ++r->seq;
	rt = mnl_nlmsg_put_extra_header(h, sizeof(*rt));
	rt->rtm_family = to->family == ADDR_V6 ? AF_INET6 : AF_INET;
	rt->rtm_dst_len = addr_bits(to->family);
	mnl_attr_put(h, RTA_DST, addr_bits(to->family) / 8u, to->b);
	if (mnl_socket_sendto(r->nl, h, h->nlmsg_len) < 0)
		return errno;
	n = mnl_socket_recvfrom(r->nl, room, sizeof(room));
	if (n < 0 ||
	    mnl_cb_run(room, (size_t)n, r->seq, mnl_socket_get_portid(r->nl),
		       take_route, &a) < 0)
		return errno;
	if (!a.leaves || a.index == 0)
		return EACCES;
	*out_index = a.index;
	return 0;
}
