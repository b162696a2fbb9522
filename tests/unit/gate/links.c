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
	mnl_attr_put(h, IFLA_ADDRESS, 6, "\2mac\0\1");
	mnl_attr_put(h, IFLA_BROADCAST, 6, "\377\377\377\377\377\377");
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
	static const uint8_t gw[16] = {10, 0, 0, 1, [15] = 9};
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

/* --- which is what ------------------------------------------------------ */

static void roles(void)
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
	CHECK(strcmp(link_facts_uplink(&f)->name, "eth0") == 0 &&
	      memcmp(link_facts_uplink(&f)->mac, "\2mac\0\1", 6) == 0);
	CHECK(f.gateways[0].family == ADDR_V4 && f.gateways[0].b[0] == 10);
	/* link-local addresses and a default route alone are not enough */
	add_default(&f, 5, true, 0);
	CHECK(!link_facts_ipv6(&f));
	CHECK(f.gateways[f.n_gateways - 1].family == ADDR_V6 &&
	      f.gateways[f.n_gateways - 1].b[15] == 9);
	add_addr(&f, 5, AF_INET6, RT_SCOPE_UNIVERSE);
	CHECK(link_facts_ipv6(&f));
	/* the second interface: only when it is up and has an address */
	add_if(&f, 9, "eth1", 0);
	CHECK(!link_facts_agent(&f));
	add_if(&f, 9, "eth1", IFF_UP);
	CHECK(!link_facts_agent(&f));
	add_addr(&f, 9, AF_INET, RT_SCOPE_UNIVERSE);
	CHECK(link_facts_agent(&f) && link_facts_agent(&f)->index == 9);
	add_if(&f, 9, "eth1", 0);
	CHECK(!link_facts_agent(&f));
	add_if(&f, 9, "eth1", IFF_UP);
	/* nor while nothing leads out */
	f.n_defaults = 0;
	f.ifs[1].has_v4 = false;
	CHECK(!link_facts_agent(&f));
	add_default(&f, 5, false, 0);
	/* and only while there is no doubt */
	add_if(&f, 11, "eth2", IFF_UP);
	add_addr(&f, 11, AF_INET, RT_SCOPE_UNIVERSE);
	CHECK(!link_facts_agent(&f));
}

/* IPv4's default route comes first, then the first of IPv6; nothing goes out by
 * the loopback. */
static void uplinks(void)
{
	struct link_facts f = {0};

	add_if(&f, 1, "lo", IFF_UP | IFF_LOOPBACK);
	add_if(&f, 2, "eth0", IFF_UP);
	add_if(&f, 3, "eth1", IFF_UP);
	add_if(&f, 4, "eth2", IFF_UP);
	add_default(&f, 1, false, 0);
	add_default(&f, 1, true, 0);
	CHECK(!link_facts_uplink(&f) && !link_facts_ipv6(&f));
	add_default(&f, 4, true, 0);
	CHECK(link_facts_uplink(&f) && link_facts_uplink(&f)->index == 4);
	add_default(&f, 3, false, 0);
	add_default(&f, 2, false, 0);
	CHECK(link_facts_uplink(&f)->index == 3);
	/* of IPv6 it is another one that has to have an address */
	add_addr(&f, 3, AF_INET6, RT_SCOPE_UNIVERSE);
	CHECK(!link_facts_ipv6(&f));
	add_addr(&f, 4, AF_INET6, RT_SCOPE_UNIVERSE);
	CHECK(link_facts_ipv6(&f));
	/* by addresses of IPv4 the agent's is known */
	CHECK(!link_facts_agent(&f));
	add_addr(&f, 1, AF_INET, RT_SCOPE_HOST);
	add_addr(&f, 3, AF_INET, RT_SCOPE_UNIVERSE);
	CHECK(!link_facts_agent(&f));
	add_addr(&f, 4, AF_INET, RT_SCOPE_UNIVERSE);
	CHECK(link_facts_agent(&f) && link_facts_agent(&f)->index == 4);
}

/* --- bounds ------------------------------------------------------------- */

static void more_than_there_is_room_for(void)
{
	static const uint8_t gw[4] = {10, 0, 0, 1};
	struct link_facts f = {0};

	for (int i = 1; i <= (int)LINK_IFS_MAX + 1; i++)
		add_if(&f, i, "x", IFF_UP);
	CHECK(f.n_ifs == LINK_IFS_MAX && f.ifs[LINK_IFS_MAX - 1].index == 32);
	add_addr(&f, LINK_IFS_MAX + 1, AF_INET, RT_SCOPE_UNIVERSE);
	CHECK(f.n_ifs == LINK_IFS_MAX && f.n_defaults == 0);
	/* what is known already stays so */
	add_addr(&f, LINK_IFS_MAX, AF_INET, RT_SCOPE_UNIVERSE);
	CHECK(f.ifs[LINK_IFS_MAX - 1].has_v4 && !f.ifs[0].has_v4);
	for (unsigned i = 1; i <= LINK_GATEWAYS_MAX + 1; i++)
		add_default(&f, i, false, 0);
	CHECK(f.n_defaults == LINK_GATEWAYS_MAX &&
	      f.n_gateways == LINK_GATEWAYS_MAX);
	CHECK(f.defaults[LINK_GATEWAYS_MAX - 1].index == LINK_GATEWAYS_MAX &&
	      memcmp(f.gateways[LINK_GATEWAYS_MAX - 1].b, gw, 4) == 0);
}

/* --- odd messages ------------------------------------------------------- */

static void odd_interfaces(void)
{
	static const uint8_t mac[8] = {2, 1, 2, 3, 4, 5, 6, 7};
	struct link_facts f = {0};
	struct nlmsghdr *h;
	struct ifinfomsg *ifi;

	add_if(&f, 5, "eth0", IFF_UP);
	h = mnl_nlmsg_put_header(room);
	ifi = mnl_nlmsg_put_extra_header(h, sizeof(*ifi));
	h->nlmsg_type = RTM_NEWLINK;
	ifi->ifi_index = 5;
	/* of another size, or no text: what was known stays */
	mnl_attr_put(h, IFLA_IFNAME, 3, "eth");
	mnl_attr_put_u16(h, IFLA_MTU, 9);
	mnl_attr_put(h, IFLA_ADDRESS, 8, mac);
	link_facts_add(&f, h);
	CHECK(f.n_ifs == 1 && strcmp(f.ifs[0].name, "eth0") == 0 &&
	      f.ifs[0].mtu == 1400 && f.ifs[0].mac[1] == 'm' && !f.ifs[0].up);
	mnl_attr_put(h, IFLA_ADDRESS, 6, mac);
	link_facts_add(&f, h);
	CHECK(memcmp(f.ifs[0].mac, mac, 6) == 0);
	/* a header alone is a whole message, one byte less is none */
	h->nlmsg_len = NLMSG_LENGTH(sizeof(*ifi));
	ifi->ifi_index = 6;
	link_facts_add(&f, h);
	CHECK(f.n_ifs == 2);
	h->nlmsg_len--;
	ifi->ifi_index = 7;
	link_facts_add(&f, h);
	CHECK(f.n_ifs == 2);
}

static void odd_addresses(void)
{
	struct link_facts f = {0};
	struct nlmsghdr *h = mnl_nlmsg_put_header(room);
	struct ifaddrmsg *ifa = mnl_nlmsg_put_extra_header(h, sizeof(*ifa));

	h->nlmsg_type = RTM_NEWADDR;
	ifa->ifa_family = AF_INET;
	ifa->ifa_index = 3;
	h->nlmsg_len--;
	link_facts_add(&f, h);
	CHECK(f.n_ifs == 0);
	h->nlmsg_len++;
	link_facts_add(&f, h);
	CHECK(f.n_ifs == 1 && f.ifs[0].has_v4 && !f.ifs[0].has_v6);
	ifa->ifa_index = 4;
	ifa->ifa_family = AF_INET6;
	ifa->ifa_scope = RT_SCOPE_SITE;
	link_facts_add(&f, h);
	CHECK(f.n_ifs == 2 && !f.ifs[1].has_v4 && !f.ifs[1].has_v6);
}

/* One that is no way to anywhere, or does not say by which interface. */
static void odd_routes(void)
{
	static const struct {
		uint8_t table, type;
		size_t gateway;
		uint16_t oif;
		unsigned n_gateways, n_defaults;
	} cases[] = {
		{RT_TABLE_MAIN, RTN_UNICAST, 4, 4, 1, 1},
		{RT_TABLE_LOCAL, RTN_UNICAST, 4, 4, 0, 0},
		{RT_TABLE_MAIN, RTN_BLACKHOLE, 4, 4, 0, 0},
		{RT_TABLE_MAIN, RTN_UNICAST, 16, 4, 0, 1},
		{RT_TABLE_MAIN, RTN_UNICAST, 4, 2, 1, 0},
		{RT_TABLE_MAIN, RTN_UNICAST, 4, 0, 1, 0},
	};
	static const uint8_t bytes[16] = {10, 0, 0, 1};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct link_facts f = {0};
		struct nlmsghdr *h = mnl_nlmsg_put_header(room);
		struct rtmsg *rt = mnl_nlmsg_put_extra_header(h, sizeof(*rt));
		uint32_t oif = 5;

		h->nlmsg_type = RTM_NEWROUTE;
		rt->rtm_family = AF_INET;
		rt->rtm_table = cases[i].table;
		rt->rtm_type = cases[i].type;
		mnl_attr_put(h, RTA_GATEWAY, cases[i].gateway, bytes);
		if (cases[i].oif)
			mnl_attr_put(h, RTA_OIF, cases[i].oif, &oif);
		link_facts_add(&f, h);
		CHECK_MSG(f.n_gateways == cases[i].n_gateways &&
				  f.n_defaults == cases[i].n_defaults,
			  "%zu", i);
		f = (struct link_facts){0};
		h->nlmsg_len = NLMSG_LENGTH(sizeof(*rt)) - 1;
		link_facts_add(&f, h);
		CHECK(f.n_gateways == 0 && f.n_defaults == 0);
	}
}

int main(void)
{
	roles();
	uplinks();
	more_than_there_is_room_for();
	odd_interfaces();
	odd_addresses();
	odd_routes();
	test_sink();
	return check_status();
}
