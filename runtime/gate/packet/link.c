#include "runtime/gate/packet/link.h"

#include "compiler/base/sys/clock.h"
#include "compiler/base/sys/sysctl.h"
#include "compiler/plan/gate.h"
#include "runtime/gate/packet/rtnl.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <poll.h>
#include <string.h>

struct addr link_addr(const char *text)
{
	struct addr a = {0};

	ignore(addr_parse(str_of(text), &a));
	return a;
}

static int take_fact(const struct nlmsghdr *h, void *facts)
{
	link_facts_add(facts, h);
	return MNL_CB_OK;
}

int link_facts_read(struct link_facts *out, struct err *err)
{
	auto_rtnl struct rtnl rt = {0};
	struct link_facts facts = {0};
	int rc = rtnl_open(&rt, 0, err);

	if (rc < 0)
		return rc;
	if ((rc = rtnl_dump(&rt, RTM_GETLINK, sizeof(struct ifinfomsg),
			    take_fact, &facts, err)) < 0 ||
	    (rc = rtnl_dump(&rt, RTM_GETADDR, sizeof(struct ifaddrmsg),
			    take_fact, &facts, err)) < 0 ||
	    (rc = rtnl_dump(&rt, RTM_GETROUTE, sizeof(struct rtmsg), take_fact,
			    &facts, err)) < 0)
		return rc;
	*out = facts;
	return 0;
}

/* For so long at most. What it is nobody asks: all is read again. */
static void await_event(struct rtnl *events, int64_t left_ms)
{
	struct pollfd p = {mnl_socket_get_fd(events->nl), POLLIN, 0};

	ignore(poll(&p, 1, (int)left_ms));
	ignore(recv(p.fd, events->room, sizeof(events->room), MSG_DONTWAIT));
}

int link_await_uplink(struct link_facts *out, int wait_ms, struct err *err)
{
	auto_rtnl struct rtnl events = {0};
	int64_t deadline_ms = clock_ms() + wait_ms;
	int rc = rtnl_open(&events,
			   RTMGRP_LINK | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE,
			   err);

	while (rc == 0) {
		int64_t left_ms = deadline_ms - clock_ms();

		rc = link_facts_read(out, err);
		if (rc < 0 || link_facts_uplink(out))
			break;
		if (left_ms <= 0)
			return err_set(err, -ETIMEDOUT, "no uplink within %d s",
				       wait_ms / 1000);
		await_event(&events, left_ms);
	}
	/* the route was there while its link was listed before it */
	return rc < 0 ? rc : link_facts_read(out, err);
}

/* Of the pair's two ends: made up here, so that neither has to ask. */
static const uint8_t gate_mac[6] = {0x02, 0x6d, 0x65, 0x6d, 0x62, 0x01};
static const uint8_t agent_mac[6] = {0x02, 0x6d, 0x65, 0x6d, 0x62, 0x02};

static int add_address(struct rtnl *rt, uint32_t index, const char *text,
		       uint8_t bits, struct err *err)
{
	struct nlmsghdr *h = rtnl_begin(
		rt, RTM_NEWADDR, NLM_F_CREATE | NLM_F_REPLACE | NLM_F_ACK);
	struct ifaddrmsg *ifa = mnl_nlmsg_put_extra_header(h, sizeof(*ifa));
	struct addr a = link_addr(text);
	int rc;

	ifa->ifa_family = a.family == ADDR_V6 ? AF_INET6 : AF_INET;
	ifa->ifa_prefixlen = bits;
	ifa->ifa_index = index;
	/* Nobody else can be on a link of two: no wait for duplicates. */
	if (a.family == ADDR_V6)
		ifa->ifa_flags = IFA_F_NODAD;
	mnl_attr_put(h, IFA_LOCAL, addr_bits(a.family) / 8u, a.b);
	mnl_attr_put(h, IFA_ADDRESS, addr_bits(a.family) / 8u, a.b);
	rc = rtnl_talk(rt, h, NULL, NULL);
	if (rc < 0)
		return err_set(err, rc, "address %s: %s", text, strerror(-rc));
	return 0;
}

/* Who is at the other end, for good: nobody can say otherwise, and nobody has
 * to ask, which without a link-local address the gate could not. */
static int add_neighbour(struct rtnl *rt, uint32_t index, const char *text,
			 const uint8_t mac[6], struct err *err)
{
	struct nlmsghdr *h = rtnl_begin(
		rt, RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE | NLM_F_ACK);
	struct ndmsg *nd = mnl_nlmsg_put_extra_header(h, sizeof(*nd));
	struct addr a = link_addr(text);
	int rc;

	nd->ndm_family = a.family == ADDR_V6 ? AF_INET6 : AF_INET;
	nd->ndm_ifindex = (int)index;
	nd->ndm_state = NUD_PERMANENT;
	mnl_attr_put(h, NDA_DST, addr_bits(a.family) / 8u, a.b);
	mnl_attr_put(h, NDA_LLADDR, 6, mac);
	rc = rtnl_talk(rt, h, NULL, NULL);
	if (rc < 0)
		return err_set(err, rc, "neighbour %s: %s", text,
			       strerror(-rc));
	return 0;
}

static struct nlmsghdr *begin_default(struct rtnl *rt, uint32_t index, bool v6,
				      uint8_t scope)
{
	struct nlmsghdr *h = rtnl_begin(rt, RTM_NEWROUTE,
					NLM_F_CREATE | NLM_F_EXCL | NLM_F_ACK);
	struct rtmsg *r = mnl_nlmsg_put_extra_header(h, sizeof(*r));

	r->rtm_family = v6 ? AF_INET6 : AF_INET;
	r->rtm_table = RT_TABLE_MAIN;
	r->rtm_protocol = RTPROT_BOOT;
	r->rtm_scope = scope;
	r->rtm_type = RTN_UNICAST;
	mnl_attr_put_u32(h, RTA_OIF, index);
	return h;
}

static int add_default(struct rtnl *rt, uint32_t index, const char *gateway,
		       struct err *err)
{
	struct addr a = link_addr(gateway);
	struct nlmsghdr *h;
	int rc;

	h = begin_default(rt, index, a.family == ADDR_V6, RT_SCOPE_UNIVERSE);
	mnl_attr_put(h, RTA_GATEWAY, addr_bits(a.family) / 8u, a.b);
	rc = rtnl_talk(rt, h, NULL, NULL);
	if (rc < 0)
		return err_set(err, rc, "route through %s: %s", gateway,
			       strerror(-rc));
	return 0;
}

static int if_index(const char *name, uint32_t *out, struct err *err)
{
	*out = if_nametoindex(name);
	if (!*out)
		return err_set(err, -errno, "interface %s: %s", name,
			       strerror(errno));
	return 0;
}

static int addresses_up(struct rtnl *rt, uint32_t index, const char *v4,
			uint8_t v4_bits, const char *v6, struct err *err)
{
	int rc = rtnl_no_link_local(rt, index, err);

	if (rc < 0 || (rc = add_address(rt, index, v4, v4_bits, err)) < 0 ||
	    (rc = rtnl_set_up(rt, index, true, err)) < 0)
		return rc;
	return v6 ? add_address(rt, index, v6, LINK_V6_BITS, err) : 0;
}

int link_gate_up(pid_t peer, uint32_t mtu, bool ipv6, struct err *err)
{
	const struct rtnl_pair pair = {LINK_GATE_IF, LINK_AGENT_IF, gate_mac,
				       agent_mac,    peer,	    mtu};
	auto_rtnl struct rtnl rt = {0};
	uint32_t index;
	int rc;

	if ((rc = rtnl_open(&rt, 0, err)) < 0 ||
	    (rc = rtnl_make_pair(&rt, &pair, err)) < 0 ||
	    (rc = if_index(LINK_GATE_IF, &index, err)) < 0)
		return rc;
	rc = addresses_up(&rt, index, LINK_GATE_V4, LINK_V4_BITS,
			  ipv6 ? LINK_GATE_V6 : NULL, err);
	if (rc < 0 ||
	    (rc = add_neighbour(&rt, index, LINK_AGENT_V4, agent_mac, err)) <
		    0 ||
	    !ipv6)
		return rc;
	return add_neighbour(&rt, index, LINK_AGENT_V6, agent_mac, err);
}

/* One end stays down: nothing that is sent there arrives, or comes back. */
int link_sink_up(bool *ipv6, struct err *err)
{
	static const struct rtnl_pair pair = {
		LINK_SINK_IF, LINK_SINK_IF "x", NULL, NULL, 0, LINK_SINK_MTU};
	auto_rtnl struct rtnl rt = {0};
	uint32_t index;
	int rc;

	if ((rc = rtnl_open(&rt, 0, err)) < 0 ||
	    (rc = rtnl_make_pair(&rt, &pair, err)) < 0 ||
	    (rc = if_index(LINK_SINK_IF, &index, err)) < 0 ||
	    (rc = rtnl_no_link_local(&rt, index, err)) < 0 ||
	    (rc = rtnl_set_up(&rt, index, true, err)) < 0)
		return rc;
	rc = rtnl_talk(&rt, begin_default(&rt, index, false, RT_SCOPE_LINK),
		       NULL, NULL);
	if (rc < 0)
		return err_set(err, rc, "a route to nowhere: %s",
			       strerror(-rc));
	/* a kernel without IPv6 has no route for it, and needs none */
	*ipv6 = *ipv6 &&
		rtnl_talk(&rt, begin_default(&rt, index, true, RT_SCOPE_LINK),
			  NULL, NULL) == 0;
	return 0;
}

int link_machine_up(struct err *err)
{
	auto_rtnl struct rtnl rt = {0};
	uint32_t lo;
	int rc;

	if ((rc = rtnl_open(&rt, 0, err)) < 0 ||
	    (rc = if_index("lo", &lo, err)) < 0 ||
	    (rc = rtnl_set_up(&rt, lo, true, err)) < 0)
		return rc;
	return add_address(&rt, lo, LINK_MACHINE_V4, 32, err);
}

int link_gate_down(struct err *err)
{
	auto_rtnl struct rtnl rt = {0};
	uint32_t index;
	int rc;

	if ((rc = rtnl_open(&rt, 0, err)) < 0 ||
	    (rc = if_index(LINK_GATE_IF, &index, err)) < 0)
		return rc;
	return rtnl_set_up(&rt, index, false, err);
}

int link_agent_up(bool ipv6, struct err *err)
{
	auto_rtnl struct rtnl rt = {0};
	uint32_t lo, index;
	int rc;

	if ((rc = rtnl_open(&rt, 0, err)) < 0 ||
	    (rc = if_index("lo", &lo, err)) < 0 ||
	    (rc = rtnl_set_up(&rt, lo, true, err)) < 0 ||
	    (rc = if_index(LINK_AGENT_IF, &index, err)) < 0)
		return rc;
	/* Where the namespace was somebody else's, new links may be without it.
	 * What cannot be switched on says so with its address. */
	if (ipv6)
		(void)sysctl_put("net/ipv6/conf/" LINK_AGENT_IF "/disable_ipv6",
				 "0");
	if ((rc = addresses_up(&rt, index, LINK_AGENT_V4, LINK_V4_BITS,
			       ipv6 ? LINK_AGENT_V6 : NULL, err)) < 0 ||
	    (rc = add_neighbour(&rt, index, LINK_GATE_V4, gate_mac, err)) < 0 ||
	    (rc = add_default(&rt, index, LINK_GATE_V4, err)) < 0)
		return rc;
	if (!ipv6 ||
	    (rc = add_neighbour(&rt, index, LINK_GATE_V6, gate_mac, err)) < 0)
		return rc;
	return add_default(&rt, index, LINK_GATE_V6, err);
}

/* Down, renamed, its addresses gone with what the runtime gave it. */
static int rename_agent(struct rtnl *rt, uint32_t index, struct err *err)
{
	struct nlmsghdr *h;
	int rc = rtnl_set_up(rt, index, false, err);

	if (rc < 0)
		return rc;
	h = rtnl_begin_link(rt, index, false, false);
	mnl_attr_put_strz(h, IFLA_IFNAME, LINK_GATE_IF);
	rc = rtnl_talk(rt, h, NULL, NULL);
	if (rc < 0)
		return err_set(err, rc, "renaming the agent's link: %s",
			       strerror(-rc));
	return 0;
}

int link_bridge_up(bool ipv6, struct err *err)
{
	auto_rtnl struct rtnl rt = {0}, events = {0};
	int64_t deadline_ms = clock_ms() + LINK_BRIDGE_WAIT_MS;
	const struct link_if *found = NULL;
	struct link_facts facts;
	uint32_t index;
	int rc;

	if ((rc = rtnl_open(&rt, 0, err)) < 0 ||
	    (rc = rtnl_open(&events, RTMGRP_LINK | RTMGRP_IPV4_IFADDR, err)) <
		    0)
		return rc;
	for (;;) {
		int64_t left_ms = deadline_ms - clock_ms();

		if ((rc = link_facts_read(&facts, err)) < 0)
			return rc;
		if ((found = link_facts_agent(&facts)))
			break;
		if (left_ms <= 0)
			return err_set(err, -ETIMEDOUT,
				       "no second interface for the agent");
		await_event(&events, left_ms);
	}
	index = found->index;
	if ((rc = rename_agent(&rt, index, err)) < 0)
		return rc;
	return addresses_up(&rt, index, LINK_GATE_V4, LINK_BRIDGE_V4_BITS,
			    ipv6 ? LINK_GATE_V6 : NULL, err);
}

static int add_mark_rule(struct rtnl *rt, struct err *err)
{
	struct nlmsghdr *h = rtnl_begin(rt, RTM_NEWRULE,
					NLM_F_CREATE | NLM_F_EXCL | NLM_F_ACK);
	struct fib_rule_hdr *r = mnl_nlmsg_put_extra_header(h, sizeof(*r));
	int rc;

	r->family = AF_INET6;
	r->action = FR_ACT_TO_TBL;
	r->table = LINK_TPROXY_TABLE;
	mnl_attr_put_u32(h, FRA_FWMARK, GATE_MARK_TPROXY);
	mnl_attr_put_u32(h, FRA_TABLE, LINK_TPROXY_TABLE);
	/* The kernel would choose another one each time, and have it twice. */
	mnl_attr_put_u32(h, FRA_PRIORITY, LINK_TPROXY_PRIORITY);
	rc = rtnl_talk(rt, h, NULL, NULL);
	if (rc < 0 && rc != -EEXIST)
		return err_set(err, rc, "rule for marked packets: %s",
			       strerror(-rc));
	return 0;
}

int link_tproxy_up(struct err *err)
{
	auto_rtnl struct rtnl rt = {0};
	struct nlmsghdr *h;
	struct rtmsg *r;
	uint32_t lo;
	int rc;

	if ((rc = rtnl_open(&rt, 0, err)) < 0 ||
	    (rc = if_index("lo", &lo, err)) < 0 ||
	    (rc = rtnl_set_up(&rt, lo, true, err)) < 0 ||
	    (rc = add_mark_rule(&rt, err)) < 0)
		return rc;
	h = rtnl_begin(&rt, RTM_NEWROUTE,
		       NLM_F_CREATE | NLM_F_REPLACE | NLM_F_ACK);
	r = mnl_nlmsg_put_extra_header(h, sizeof(*r));
	r->rtm_family = AF_INET6;
	r->rtm_table = LINK_TPROXY_TABLE;
	r->rtm_protocol = RTPROT_BOOT;
	r->rtm_scope = RT_SCOPE_HOST;
	r->rtm_type = RTN_LOCAL;
	mnl_attr_put_u32(h, RTA_OIF, lo);
	rc = rtnl_talk(&rt, h, NULL, NULL);
	if (rc < 0)
		return err_set(err, rc, "route for marked packets: %s",
			       strerror(-rc));
	return 0;
}

int link_forwarding(bool *ipv6, struct err *err)
{
	if (!sysctl_put("net/ipv4/ip_forward", "1"))
		return err_set(err, -EPERM, "net.ipv4.ip_forward is off");
	if (*ipv6 && !sysctl_put("net/ipv6/conf/all/forwarding", "1"))
		*ipv6 = false;
	return 0;
}
