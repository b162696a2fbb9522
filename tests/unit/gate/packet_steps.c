/*
 * What the gate asks of the kernel for packets: links, sets, logs, flows, and
 * that none of it goes wrong without a word. Each try has a network of its own.
 */
#include "runtime/gate/packet/conntrack.h"
#include "runtime/gate/packet/fence.h"
#include "runtime/gate/packet/flows.h"
#include "runtime/gate/packet/link.h"
#include "runtime/gate/packet/machine.h"
#include "runtime/gate/packet/nflog.h"
#include "runtime/gate/packet/nftset.h"
#include "runtime/gate/packet/podlink.h"
#include "runtime/gate/packet/podports.h"
#include "runtime/gate/packet/ruleset.h"

#include "tests/unit/gate/rooms.h"
#include "tests/unit/steps.h"

#include <arpa/inet.h>
#include <net/route.h>
#include <netinet/in.h>
#include <sys/un.h>

#define TABLE                                                                  \
	"table inet " GATE_TABLE " {\n"                                        \
	"	set host4_1 {\n"                                                     \
	"		type ipv4_addr\n"                                                   \
	"		flags timeout\n"                                                    \
	"	}\n"                                                                 \
	"}\n"

static struct err unheard;

static bool new_network(void)
{
	return unshare(CLONE_NEWNET) == 0 && loopback_up();
}

/* Both ends here, and up. */
static bool has_pair(const char *name, const char *other)
{
	const struct rtnl_pair p = {.name = name, .other = other, .mtu = 1400};
	auto_rtnl struct rtnl rt = {0};

	return new_network() && rtnl_open(&rt, 0, &unheard) == 0 &&
	       rtnl_make_pair(&rt, &p, &unheard) == 0 &&
	       rtnl_set_up(&rt, if_nametoindex(name), true, &unheard) == 0 &&
	       rtnl_set_up(&rt, if_nametoindex(other), true, &unheard) == 0;
}

static struct sockaddr at(const char *addr)
{
	struct sockaddr_in in = {.sin_family = AF_INET};
	struct sockaddr sa;

	inet_pton(AF_INET, addr, &in.sin_addr);
	memcpy(&sa, &in, sizeof(sa));
	return sa;
}

static bool has_address(const char *name, const char *addr, const char *gateway)
{
	struct ifreq a = {.ifr_addr = at(addr)},
		     mask = {.ifr_netmask = at("255.255.255.0")};
	struct rtentry r = {.rt_dst = at("0.0.0.0"),
			    .rt_genmask = at("0.0.0.0"),
			    .rt_flags = RTF_UP | RTF_GATEWAY};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool ok;

	strncpy(a.ifr_name, name, IFNAMSIZ - 1);
	strncpy(mask.ifr_name, name, IFNAMSIZ - 1);
	ok = ioctl(fd, SIOCSIFADDR, &a) == 0 &&
	     ioctl(fd, SIOCSIFNETMASK, &mask) == 0;
	if (ok && gateway) {
		r.rt_gateway = at(gateway);
		ok = ioctl(fd, SIOCADDRT, &r) == 0;
	}
	close(fd);
	return ok;
}

/* --- links ---------------------------------------------------------------- */

static int read_facts(struct err *err)
{
	struct link_facts f;

	return link_facts_read(&f, err);
}

static int sink_up(struct err *err)
{
	bool ipv6 = false;

	return link_sink_up(&ipv6, err);
}

static bool has_sink(void)
{
	return new_network() && sink_up(&unheard) == 0;
}

static int await_uplink(struct err *err)
{
	struct link_facts f;

	return link_await_uplink(&f, 0, err);
}

/* The other end is to be in this network, too. */
static int gate_up(struct err *err)
{
	return link_gate_up(getpid(), 1400, true, err);
}

static bool has_gate(void)
{
	return new_network() && gate_up(&unheard) == 0;
}

/* As the gate leaves it to who sets up the other end. */
static bool has_agent(void)
{
	return has_pair(LINK_AGENT_IF, LINK_GATE_IF);
}

static int agent_up(struct err *err)
{
	return link_agent_up(true, err);
}

static int bridge_up(struct err *err)
{
	return link_bridge_up(true, err);
}

/* One with the default route, another one with an address. */
static bool has_bridge(void)
{
	return has_pair("bridge", "up") && sink_up(&unheard) == 0 &&
	       has_address("bridge", "10.1.2.3", NULL);
}

/* --- netfilter ------------------------------------------------------------ */

static int open_log(struct err *err)
{
	struct nflog l;
	int rc = nflog_open(&l, GATE_LOG_REFUSED, err);

	/* one that it could not have is none */
	if (rc < 0 && nflog_fd(&l) >= 0)
		return 0;
	return rc;
}

static struct flows flows;

static int open_flows(struct err *err)
{
	return flows_open(&flows, err);
}

static bool has_flows(void)
{
	return open_flows(&unheard) == 0;
}

static void no_flow(void *data, const struct flow *flow)
{
	(void)data, (void)flow;
}

static int read_flows(struct err *err)
{
	return flows_read(&flows, no_flow, NULL, err);
}

static int rest_of_flows(struct err *err)
{
	return flows_rest(&flows, no_flow, NULL, err);
}

static int load_rules(struct err *err)
{
	return ruleset_load(STR(TABLE), err);
}

static bool has_rules(void)
{
	return new_network() && load_rules(&unheard) == 0;
}

static struct nftset sets;

static int open_sets(struct err *err)
{
	return nftset_open(&sets, err);
}

static bool has_sets(void)
{
	return has_rules() && open_sets(&unheard) == 0;
}

static int add_element(struct err *err)
{
	const struct nftset_elem e = {{ADDR_V4, {11, 0, 0, 1}}, 1, 60};

	return nftset_add(&sets, &e, 1, 1, err);
}

/* --- ports ---------------------------------------------------------------- */

static int taker = -1;

static bool has_taker(void)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX,
				 .sun_path = "/run/gate/taker"};

	unlink(sa.sun_path);
	taker = socket(AF_UNIX, SOCK_STREAM, 0);
	return new_network() &&
	       bind(taker, (struct sockaddr *)&sa, sizeof(sa)) == 0 &&
	       listen(taker, 1) == 0;
}

static int open_machine(struct err *err)
{
	static const uint16_t ports[] = {22, 8080};

	return machine_open(ports, 2, "/run/gate/taker", err);
}

/* --- a Pod ---------------------------------------------------------------- */

static struct podlink pod;

static bool has_pod(void)
{
	memset(&pod, 0, sizeof(pod));
	return has_pair(LINK_AGENT_IF, "node") &&
	       has_address(LINK_AGENT_IF, "198.51.100.7", "198.51.100.1");
}

static int leave_pod(struct err *err)
{
	return podlink_leave(&pod, err);
}

static bool has_left(void)
{
	return has_pod() && leave_pod(&unheard) == 0;
}

static int take_wire(struct err *err)
{
	return podlink_take(&pod, err);
}

static bool has_wire(void)
{
	return has_left() && take_wire(&unheard) == 0;
}

/* As the gate has it, without what moving a link takes: the Pod's stays there,
 * and there is another one here. */
static bool has_wire_here(void)
{
	return has_left() && has_pair(LINK_AGENT_IF, "node");
}

static int return_wire(struct err *err)
{
	return podlink_return(&pod, err);
}

static int open_ports(struct err *err)
{
	static const uint16_t ports[] = {8080, 9090};
	int fds[2];

	return podports_open(&pod, ports, 2, fds, err);
}

static const struct steps_of table[] = {
	{.name = "link_facts_read", .run = read_facts},
	{"link_await_uplink", has_sink, await_uplink, NULL, 0, NULL},
	{"link_sink_up", new_network, sink_up, NULL, 0, NULL},
	{"link_machine_up", new_network, link_machine_up, NULL, 0, NULL},
	{"link_gate_up", new_network, gate_up, NULL, 0, NULL},
	{"link_gate_down", has_gate, link_gate_down, NULL, 0, NULL},
	{"link_agent_up", has_agent, agent_up, " openat write ", 0, NULL},
	{"link_bridge_up", has_bridge, bridge_up, NULL, 0, NULL},
	{"link_tproxy_up", new_network, link_tproxy_up, NULL, 0, NULL},
	{"nflog_open", NULL, open_log, " widen ", 0, NULL},
	{"flows_open", NULL, open_flows, " widen ", 0, NULL},
	{"flows_read", has_flows, read_flows, NULL, 0, NULL},
	{"flows_rest", has_flows, rest_of_flows, NULL, 0, NULL},
	{.name = "conntrack_check", .run = conntrack_check},
	{.name = "conntrack_forget", .run = conntrack_forget},
	{.name = "nftset_open", .run = open_sets},
	{"nftset_add", has_sets, add_element, NULL, 0, NULL},
	{"machine_open", has_taker, open_machine, NULL, 0, NULL},
	{"podlink_leave", has_pod, leave_pod, NULL, 0, NULL},
	{"podlink_take", has_left, take_wire, NULL, 0, NULL},
	{"podlink_return", has_wire, return_wire, NULL, 0, NULL},
	{.name = "podlink_alone", .run = podlink_alone},
	{"podports_open", has_wire_here, open_ports, " six ", 40, NULL},
};

int main(int argc, char **argv)
{
	if (!steps_are_asked() || !enter_room())
		return NOT_HERE;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (argc < 2 || strcmp(argv[1], table[i].name) == 0)
			steps_check(&table[i]);
	return check_status();
}
