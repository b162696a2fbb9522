/* A Pod's interface, taken and given back, and the fence around that: as the
 * kernel has it, in a network of this test's own. */
#include "runtime/gate/packet/podlink.h"

#include "runtime/gate/packet/fence.h"
#include "runtime/gate/packet/link.h"
#include "runtime/gate/packet/podports.h"
#include "tests/check.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/rtnetlink.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define MTU 1399u

static struct err err;
static const uint8_t own[4] = {198, 51, 100, 7}, gateway[4] = {198, 51, 100, 1};
static const uint8_t there[6] = {2, 0, 0, 0, 0, 9};

static int say(struct rtnl *rt, struct nlmsghdr *h)
{
	return rtnl_talk(rt, h, NULL, NULL);
}

static int add_address(struct rtnl *rt, uint32_t index)
{
	struct nlmsghdr *h = rtnl_begin(rt, RTM_NEWADDR,
					NLM_F_CREATE | NLM_F_EXCL | NLM_F_ACK);
	struct ifaddrmsg *ifa = mnl_nlmsg_put_extra_header(h, sizeof(*ifa));

	ifa->ifa_family = AF_INET;
	ifa->ifa_prefixlen = 24;
	ifa->ifa_index = index;
	mnl_attr_put(h, IFA_LOCAL, 4, own);
	mnl_attr_put(h, IFA_ADDRESS, 4, own);
	return say(rt, h);
}

static int add_default(struct rtnl *rt, uint32_t index)
{
	struct nlmsghdr *h = rtnl_begin(rt, RTM_NEWROUTE,
					NLM_F_CREATE | NLM_F_EXCL | NLM_F_ACK);
	struct rtmsg *r = mnl_nlmsg_put_extra_header(h, sizeof(*r));

	r->rtm_family = AF_INET;
	r->rtm_table = RT_TABLE_MAIN;
	r->rtm_protocol = RTPROT_BOOT;
	r->rtm_type = RTN_UNICAST;
	mnl_attr_put(h, RTA_GATEWAY, 4, gateway);
	mnl_attr_put_u32(h, RTA_OIF, index);
	return say(rt, h);
}

static int add_neighbour(struct rtnl *rt, uint32_t index)
{
	struct nlmsghdr *h = rtnl_begin(rt, RTM_NEWNEIGH,
					NLM_F_CREATE | NLM_F_EXCL | NLM_F_ACK);
	struct ndmsg *nd = mnl_nlmsg_put_extra_header(h, sizeof(*nd));

	nd->ndm_family = AF_INET;
	nd->ndm_ifindex = (int)index;
	nd->ndm_state = NUD_PERMANENT;
	mnl_attr_put(h, NDA_DST, 4, gateway);
	mnl_attr_put(h, NDA_LLADDR, 6, there);
	return say(rt, h);
}

/* What a Pod begins with, but that both ends are in it. */
static void make_pod(struct rtnl *rt)
{
	const struct rtnl_pair wire = {
		.name = LINK_AGENT_IF, .other = "node", .mtu = MTU};
	uint32_t index;

	CHECK(rtnl_open(rt, 0, &err) == 0);
	CHECK(rtnl_make_pair(rt, &wire, &err) == 0);
	index = if_nametoindex(LINK_AGENT_IF);
	CHECK(rtnl_set_up(rt, if_nametoindex("lo"), true, &err) == 0);
	CHECK(rtnl_set_up(rt, if_nametoindex("node"), true, &err) == 0);
	CHECK(rtnl_set_up(rt, index, true, &err) == 0);
	CHECK(add_address(rt, index) == 0 && add_default(rt, index) == 0 &&
	      add_neighbour(rt, index) == 0);
}

static bool has_uplink(void)
{
	struct link_facts f;
	const struct link_if *up;

	CHECK(link_facts_read(&f, &err) == 0);
	up = link_facts_uplink(&f);
	return up && strcmp(up->name, LINK_AGENT_IF) == 0 && up->mtu == MTU &&
	       up->up && up->has_v4 && f.n_gateways == 1;
}

static int no_wire(void)
{
	struct podlink l = {0};
	int rc = podlink_leave(&l, &err);

	CHECK(rc == -ENODEV && strstr(err.text, "no wire here"));
	rtnl_done(&l.pod);
	close(l.netns);
	return rc;
}

static bool is_listening(int fd)
{
	int on = 0;
	socklen_t n = sizeof(on);

	return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &n) == 0 && on;
}

static void ports_of(const struct podlink *l)
{
	static const uint16_t ports[] = {80, 8080};
	int fds[2] = {-1, -1};

	CHECK(podports_open(l, ports, 0, fds, &err) == 0 && fds[0] == -1);
	if (podports_open(l, ports, 2, fds, &err) < 0) {
		/* kernels differ in what of nf_tables they have */
		printf("no ports here: %s\n", err.text);
		return;
	}
	CHECK(is_listening(fds[0]) && is_listening(fds[1]));
	CHECK(if_nametoindex("ports0") && !if_nametoindex("ports1"));
	close(fds[0]);
	close(fds[1]);
}

/* In N from then on; back is P. */
static void take_and_return(int back)
{
	static struct podlink l;
	struct link_facts f;

	CHECK(podlink_return(&l, &err) == 0); /* nothing was taken */
	CHECK(podlink_leave(&l, &err) == 0 && !if_nametoindex(LINK_AGENT_IF));
	CHECK(podlink_take(&l, &err) == 0 && has_uplink());
	ports_of(&l);
	CHECK(podlink_return(&l, &err) == 0 && !if_nametoindex(LINK_AGENT_IF));
	CHECK(podlink_return(&l, &err) == 0);
	CHECK(setns(back, CLONE_NEWNET) == 0);
	CHECK(if_nametoindex(LINK_AGENT_IF) && link_facts_read(&f, &err) == 0);
	for (uint32_t i = 0; i < f.n_ifs; i++)
		if (strcmp(f.ifs[i].name, LINK_AGENT_IF) == 0)
			CHECK(!f.ifs[i].up && f.ifs[i].has_v4 &&
			      f.ifs[i].mtu == MTU);
	CHECK(f.n_defaults == 0);
	CHECK(no_wire() == -ENODEV);
}

static void fences(void)
{
	if (fence_raise(&err) < 0) {
		printf("no fence here: %s\n", err.text);
		return;
	}
	CHECK(fence_raise(&err) == 0);
	CHECK(fence_lift(&err) == 0 && fence_lift(&err) == 0);
}

static int in_namespaces(void)
{
	static struct rtnl rt;
	int back;

	CHECK(no_wire() == -ENODEV); /* an empty one */
	make_pod(&rt);
	/* its other end is an interface that is none of the agent's */
	CHECK(podlink_alone(&err) == -EBUSY && strstr(err.text, "node"));
	CHECK(rtnl_set_up(&rt, if_nametoindex("node"), false, &err) == 0);
	CHECK(podlink_alone(&err) == 0);
	CHECK(rtnl_set_up(&rt, if_nametoindex("node"), true, &err) == 0);
	fences();
	back = podlink_netns(&err);
	CHECK(back >= 0);
	take_and_return(back);
	rtnl_done(&rt);
	return check_status();
}

int main(void)
{
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0)
		return in_namespaces();
	printf("no namespaces of a user's own here: not tried\n");
	return check_status();
}
