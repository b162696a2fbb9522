/* Which interface is what, from rtnetlink messages made by hand; and the link
 * that leads nowhere, as the kernel has it. */
#include "runtime/gate/wire/link_facts.h"

#include "runtime/gate/packet/link.h"
#include "tests/check.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <sched.h>
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

static void add_default_of(struct link_facts *f, uint16_t type, unsigned index,
			   bool v6, uint8_t bits)
{
	static const uint8_t gw[16] = {10, 0, 0, 1};
	struct nlmsghdr *h = mnl_nlmsg_put_header(room);
	struct rtmsg *rt = mnl_nlmsg_put_extra_header(h, sizeof(*rt));

	h->nlmsg_type = type;
	rt->rtm_family = v6 ? AF_INET6 : AF_INET;
	rt->rtm_table = RT_TABLE_MAIN;
	rt->rtm_type = RTN_UNICAST;
	rt->rtm_dst_len = bits;
	mnl_attr_put(h, RTA_GATEWAY, v6 ? 16 : 4, gw);
	mnl_attr_put_u32(h, RTA_OIF, index);
	link_facts_add(f, h);
}

static void add_default(struct link_facts *f, unsigned index, bool v6,
			uint8_t bits)
{
	add_default_of(f, RTM_NEWROUTE, index, v6, bits);
}

/* In a network of its own: default routes, and nothing behind them. */
static void make_sink(void)
{
	struct link_facts f;
	struct err err;
	bool ipv6 = true;

	CHECK(link_sink_up(&ipv6, &err) == 0);
	CHECK(link_facts_read(&f, &err) == 0);
	CHECK(link_facts_uplink(&f) &&
	      strcmp(link_facts_uplink(&f)->name, LINK_SINK_IF) == 0 &&
	      link_facts_uplink(&f)->mtu == LINK_SINK_MTU);
	CHECK(f.n_gateways == 0 && f.n_defaults == (ipv6 ? 2 : 1));
	CHECK(!link_facts_agent(&f));
	/* a second one has no room */
	CHECK(link_sink_up(&ipv6, &err) == -EEXIST &&
	      strstr(err.text, LINK_SINK_IF));
}

static void test_sink(void)
{
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0)
		make_sink();
	else
		printf("no namespaces of a user's own here: not tried\n");
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
	add_default_of(&f, RTM_DELROUTE, 5, false, 0); /* one that goes */
	CHECK(!link_facts_uplink(&f) && f.n_gateways == 0);
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
	test_sink();
	return check_status();
}
