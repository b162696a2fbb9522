#include "runtime/gate/packet/rtnl.h"

#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <string.h>

void rtnl_done(struct rtnl *rt)
{
	if (rt->nl)
		mnl_socket_close(rt->nl);
	rt->nl = NULL;
}

int rtnl_open(struct rtnl *rt, unsigned groups, struct err *err)
{
	rt->nl = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	if (!rt->nl || mnl_socket_bind(rt->nl, groups, MNL_SOCKET_AUTOPID) < 0)
		return err_set(err, -errno, "rtnetlink socket: %s",
			       strerror(errno));
	return 0;
}

struct nlmsghdr *rtnl_begin(struct rtnl *rt, uint16_t type, uint16_t flags)
{
	struct nlmsghdr *h = mnl_nlmsg_put_header(rt->room);

	h->nlmsg_type = type;
	h->nlmsg_flags = NLM_F_REQUEST | flags;
	h->nlmsg_seq = ++rt->seq;
	return h;
}

int rtnl_talk(struct rtnl *rt, const struct nlmsghdr *h, mnl_cb_t cb,
	      void *data)
{
	unsigned port = mnl_socket_get_portid(rt->nl);
	int rc = 1;

	if (mnl_socket_sendto(rt->nl, h, h->nlmsg_len) < 0)
		return -errno;
	while (rc > 0) {
		ssize_t n =
			mnl_socket_recvfrom(rt->nl, rt->room, sizeof(rt->room));

		if (n < 0)
			return -errno;
		rc = mnl_cb_run(rt->room, (size_t)n, rt->seq, port, cb, data);
		if (rc < 0)
			return -errno;
	}
	return 0;
}

int rtnl_dump(struct rtnl *rt, uint16_t type, size_t body, mnl_cb_t cb,
	      void *data, struct err *err)
{
	struct nlmsghdr *h = rtnl_begin(rt, type, NLM_F_DUMP);
	int rc;

	mnl_nlmsg_put_extra_header(h, body);
	rc = rtnl_talk(rt, h, cb, data);
	if (rc < 0)
		return err_set(err, rc, "listing links and routes: %s",
			       strerror(-rc));
	return 0;
}

static void put_end(struct nlmsghdr *h, const char *name, const uint8_t *mac,
		    uint32_t mtu)
{
	mnl_attr_put_strz(h, IFLA_IFNAME, name);
	mnl_attr_put_u32(h, IFLA_MTU, mtu);
	if (mac)
		mnl_attr_put(h, IFLA_ADDRESS, 6, mac);
}

int rtnl_make_pair(struct rtnl *rt, const struct rtnl_pair *p, struct err *err)
{
	struct nlmsghdr *h = rtnl_begin(rt, RTM_NEWLINK,
					NLM_F_CREATE | NLM_F_EXCL | NLM_F_ACK);
	struct nlattr *info, *data, *end;
	int rc;

	mnl_nlmsg_put_extra_header(h, sizeof(struct ifinfomsg));
	put_end(h, p->name, p->mac, p->mtu);
	info = mnl_attr_nest_start(h, IFLA_LINKINFO);
	mnl_attr_put_str(h, IFLA_INFO_KIND, "veth");
	data = mnl_attr_nest_start(h, IFLA_INFO_DATA);
	end = mnl_attr_nest_start(h, VETH_INFO_PEER);
	mnl_nlmsg_put_extra_header(h, sizeof(struct ifinfomsg));
	put_end(h, p->other, p->other_mac, p->mtu);
	if (p->peer)
		mnl_attr_put_u32(h, IFLA_NET_NS_PID, (uint32_t)p->peer);
	mnl_attr_nest_end(h, end);
	mnl_attr_nest_end(h, data);
	mnl_attr_nest_end(h, info);
	rc = rtnl_talk(rt, h, NULL, NULL);
	if (rc < 0)
		return err_set(err, rc, "making the link %s: %s", p->name,
			       strerror(-rc));
	return 0;
}

int rtnl_move(struct rtnl *rt, uint32_t index, int fd, struct err *err)
{
	struct nlmsghdr *h = rtnl_begin_link(rt, index, false, false);
	int rc;

	mnl_attr_put_u32(h, IFLA_NET_NS_FD, (uint32_t)fd);
	rc = rtnl_talk(rt, h, NULL, NULL);
	if (rc < 0)
		return err_set(err, rc, "moving a link to another network: %s",
			       strerror(-rc));
	return 0;
}

struct nlmsghdr *rtnl_begin_link(struct rtnl *rt, uint32_t index, bool change,
				 bool up)
{
	struct nlmsghdr *h = rtnl_begin(rt, RTM_NEWLINK, NLM_F_ACK);
	struct ifinfomsg *ifi =
		mnl_nlmsg_put_extra_header(h, sizeof(struct ifinfomsg));

	ifi->ifi_index = (int)index;
	ifi->ifi_change = change ? IFF_UP : 0;
	ifi->ifi_flags = up ? IFF_UP : 0;
	return h;
}

int rtnl_no_link_local(struct rtnl *rt, uint32_t index, struct err *err)
{
	struct nlmsghdr *h = rtnl_begin_link(rt, index, false, false);
	struct nlattr *spec = mnl_attr_nest_start(h, IFLA_AF_SPEC);
	struct nlattr *inet6 = mnl_attr_nest_start(h, AF_INET6);
	int rc;

	mnl_attr_put_u8(h, IFLA_INET6_ADDR_GEN_MODE, IN6_ADDR_GEN_MODE_NONE);
	mnl_attr_nest_end(h, inet6);
	mnl_attr_nest_end(h, spec);
	rc = rtnl_talk(rt, h, NULL, NULL);
	if (rc < 0 && rc != -EAFNOSUPPORT && rc != -EOPNOTSUPP)
		return err_set(err, rc, "no link-local address: %s",
			       strerror(-rc));
	return 0;
}

int rtnl_set_up(struct rtnl *rt, uint32_t index, bool up, struct err *err)
{
	int rc =
		rtnl_talk(rt, rtnl_begin_link(rt, index, true, up), NULL, NULL);

	if (rc < 0)
		return err_set(err, rc, "setting a link %s: %s",
			       up ? "up" : "down", strerror(-rc));
	return 0;
}
