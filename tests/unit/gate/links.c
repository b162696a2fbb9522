/* Which interface is what, from rtnetlink messages made by hand. */
#include "runtime/gate/wire/link_facts.h"

#include "tests/check.h"

#include <linux/rtnetlink.h>
#include <string.h>

static uint64_t room[128];

static void add_if(struct link_facts *f, int index, const char *name,
		   unsigned flags)
{
	struct nlmsghdr *h = mnl_nlmsg_put_header(room);
	struct ifinfomsg *ifi = mnl_nlmsg_put_extra_header(h, sizeof(*ifi));

	h->nlmsg_type = RTM_NEWLINK;
	ifi->ifi_index = index;
	ifi->ifi_flags = flags;
	mnl_attr_put_strz(h, IFLA_IFNAME, name);
	mnl_attr_put_u32(h, IFLA_MTU, 1400);
	link_facts_add(f, h);
}

static void add_addr(struct link_facts *f, unsigned index, uint8_t family,
		     uint8_t scope)
{
	struct nlmsghdr *h = mnl_nlmsg_put_header(room);
	struct ifaddrmsg *ifa = mnl_nlmsg_put_extra_header(h, sizeof(*ifa));

	h->nlmsg_type = RTM_NEWADDR;
	ifa->ifa_family = family;
	ifa->ifa_index = index;
	ifa->ifa_scope = scope;
	link_facts_add(f, h);
}

static void add_default(struct link_facts *f, unsigned index, bool v6,
			uint8_t bits)
{
	static const uint8_t gw[16] = {10, 0, 0, 1};
	struct nlmsghdr *h = mnl_nlmsg_put_header(room);
	struct rtmsg *rt = mnl_nlmsg_put_extra_header(h, sizeof(*rt));

	h->nlmsg_type = RTM_NEWROUTE;
	rt->rtm_family = v6 ? AF_INET6 : AF_INET;
	rt->rtm_table = RT_TABLE_MAIN;
	rt->rtm_type = RTN_UNICAST;
	rt->rtm_dst_len = bits;
	mnl_attr_put(h, RTA_GATEWAY, v6 ? 16 : 4, gw);
	mnl_attr_put_u32(h, RTA_OIF, index);
	link_facts_add(f, h);
}

int main(void)
{
	struct link_facts f = {0};

	add_if(&f, 1, "lo", IFF_UP | IFF_LOOPBACK);
	add_addr(&f, 1, AF_INET, RT_SCOPE_HOST);
	CHECK(!link_facts_uplink(&f) && !link_facts_agent(&f));
	add_if(&f, 5, "eth0", IFF_UP);
	add_addr(&f, 5, AF_INET, RT_SCOPE_UNIVERSE);
	add_addr(&f, 5, AF_INET6, RT_SCOPE_LINK);
	add_default(&f, 5, false, 8); /* a route, but not the default one */
	CHECK(!link_facts_uplink(&f) && f.n_gateways == 1);
	add_default(&f, 5, false, 0);
	CHECK(link_facts_uplink(&f) && link_facts_uplink(&f)->index == 5);
	CHECK(link_facts_uplink(&f)->mtu == 1400);
	CHECK(strcmp(link_facts_uplink(&f)->name, "eth0") == 0);
	CHECK(f.gateways[0].family == ADDR_V4 && f.gateways[0].b[0] == 10);
	/* link-local addresses and a default route alone are not enough */
	add_default(&f, 5, true, 0);
	CHECK(!link_facts_ipv6(&f));
	add_addr(&f, 5, AF_INET6, RT_SCOPE_UNIVERSE);
	CHECK(link_facts_ipv6(&f));
	/* the second interface: only when it is up and has an address */
	add_if(&f, 9, "eth1", 0);
	CHECK(!link_facts_agent(&f));
	add_if(&f, 9, "eth1", IFF_UP);
	CHECK(!link_facts_agent(&f));
	add_addr(&f, 9, AF_INET, RT_SCOPE_UNIVERSE);
	CHECK(link_facts_agent(&f) && link_facts_agent(&f)->index == 9);
	/* and only while there is no doubt */
	add_if(&f, 11, "eth2", IFF_UP);
	add_addr(&f, 11, AF_INET, RT_SCOPE_UNIVERSE);
	CHECK(!link_facts_agent(&f));
	return check_status();
}
