/*
 * Waiting for a link that somebody else makes, and forwarding between links. In
 * networks of the test's own, where time goes by only as poll(2) waits: what
 * the others do they do meanwhile.
 */
#include "runtime/gate/packet/rtnl.h"
#include "runtime/gate/uplink.h"
#include "tests/unit/gate/plans.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#define POLLS_MAX 60

static struct {
	int64_t ms;
	unsigned n; /* polls so far */
	int waits[POLLS_MAX + 1];
	/* what others do while nothing is to be read; false: nothing more */
	bool (*meanwhile)(unsigned nth);
	unsigned quiet; /* polls before which there was nothing to be read */
	/* the same, before a list of this kind is asked for, once */
	uint16_t kind;
	void (*before)(void);
	uint16_t fails; /* of this kind a list is not to be had, once */
} world;

/* These take the C library's place in all of this program. */
int poll(struct pollfd *p, nfds_t n, int ms)
{
	const struct timespec none = {0};
	int rc;

	if (world.n == POLLS_MAX) { /* it reads nothing: this has an end */
		world.ms += ms;
		return 0;
	}
	world.waits[world.n++] = ms;
	rc = (int)syscall(SYS_ppoll, p, n, &none, NULL, 0);
	if (rc == 0 && world.meanwhile && world.meanwhile(++world.quiet))
		rc = (int)syscall(SYS_ppoll, p, n, &none, NULL, 0);
	else if (rc == 0)
		world.ms += ms;
	return rc;
}

int clock_gettime(clockid_t id, struct timespec *out)
{
	if (id != CLOCK_MONOTONIC)
		return (int)syscall(SYS_clock_gettime, id, out);
	out->tv_sec = world.ms / 1000;
	out->tv_nsec = world.ms % 1000 * 1000000;
	return 0;
}

ssize_t mnl_socket_sendto(const struct mnl_socket *nl, const void *p, size_t n)
{
	const struct nlmsghdr *h = p;
	void (*before)(void) = world.before;

	if (before && h->nlmsg_type == world.kind &&
	    h->nlmsg_flags & NLM_F_DUMP) {
		world.before = NULL;
		before();
	}
	if (h->nlmsg_type == world.fails) {
		world.fails = 0;
		errno = EIO;
		return -1;
	}
	return send(mnl_socket_get_fd(nl), p, n, 0);
}

static void begin_world(bool uplink, bool (*meanwhile)(unsigned nth))
{
	memset(&world, 0, sizeof(world));
	world.ms = 1000000;
	new_network(uplink);
	world.meanwhile = meanwhile;
}

/* --- what others do ------------------------------------------------------- */

static void make_pair(const char *name, const char *other)
{
	const struct rtnl_pair p = {.name = name, .other = other, .mtu = 1399};
	auto_rtnl struct rtnl rt = {0};

	CHECK(FINE(rtnl_open(&rt, 0, &err)) &&
	      FINE(rtnl_make_pair(&rt, &p, &err)));
	CHECK(FINE(rtnl_set_up(&rt, if_nametoindex(other), true, &err)) &&
	      FINE(rtnl_set_up(&rt, if_nametoindex(name), true, &err)));
}

static void give_address(const char *name)
{
	struct ifreq r = {0};
	struct sockaddr_in in = {.sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(0x0a010203)};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	strncpy(r.ifr_name, name, IFNAMSIZ - 1);
	memcpy(&r.ifr_addr, &in, sizeof(r.ifr_addr));
	CHECK(ioctl(fd, SIOCSIFADDR, &r) == 0);
	close(fd);
}

static void give_address6(const char *name)
{
	static const uint8_t addr[16] = {0x20, 1, 0xd, 0xb8, [15] = 7};
	auto_rtnl struct rtnl rt = {0};
	struct nlmsghdr *h;
	struct ifaddrmsg *a;

	CHECK(FINE(rtnl_open(&rt, 0, &err)));
	h = rtnl_begin(&rt, RTM_NEWADDR, NLM_F_CREATE | NLM_F_ACK);
	a = mnl_nlmsg_put_extra_header(h, sizeof(*a));
	a->ifa_family = AF_INET6;
	a->ifa_prefixlen = 64;
	a->ifa_index = if_nametoindex(name);
	mnl_attr_put(h, IFA_ADDRESS, sizeof(addr), addr);
	CHECK(rtnl_talk(&rt, h, NULL, NULL) == 0);
}

static void add_default(const char *name, uint8_t family)
{
	auto_rtnl struct rtnl rt = {0};
	struct nlmsghdr *h;
	struct rtmsg *r;

	CHECK(FINE(rtnl_open(&rt, 0, &err)));
	h = rtnl_begin(&rt, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_ACK);
	r = mnl_nlmsg_put_extra_header(h, sizeof(*r));
	r->rtm_family = family;
	r->rtm_table = RT_TABLE_MAIN;
	r->rtm_protocol = RTPROT_BOOT;
	r->rtm_scope = RT_SCOPE_LINK;
	r->rtm_type = RTN_UNICAST;
	mnl_attr_put_u32(h, RTA_OIF, if_nametoindex(name));
	CHECK(rtnl_talk(&rt, h, NULL, NULL) == 0);
}

/* --- the uplink ----------------------------------------------------------- */

static bool has_uplink(const struct link_facts *f, const char *name)
{
	const struct link_if *i = link_facts_uplink(f);

	return i && strcmp(i->name, name) == 0;
}

static uint8_t way; /* AF_INET or AF_INET6 */

/* A link first, much later the route. */
static bool uplink_comes(unsigned nth)
{
	world.ms += 1000;
	if (nth == 1)
		make_pair("up", "node");
	if (nth == 2)
		add_default("up", way);
	return true;
}

static void comes_in_time(void)
{
	static const uint8_t ways[] = {AF_INET, AF_INET6};

	for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
		struct link_facts f = {0};

		way = ways[i];
		begin_world(false, uplink_comes);
		CHECK(FINE(link_await_uplink(&f, 2001, &err)));
		CHECK(has_uplink(&f, "up") && f.n_ifs == 3);
		CHECK(world.quiet == 2 && world.n < POLLS_MAX);
		/* always as long as is left */
		CHECK(world.waits[0] == 2001 && world.waits[1] == 1001 &&
		      world.waits[world.n - 1] == 1001);
	}
}

static bool link_comes(unsigned nth)
{
	if (nth == 1)
		make_pair("up", "node");
	return nth == 1;
}

static bool route_comes_late(unsigned nth)
{
	world.ms += 1500;
	if (nth == 1)
		make_pair("up", "node");
	if (nth == 2)
		add_default("up", AF_INET);
	return nth <= 2;
}

static void comes_late(void)
{
	struct link_facts f;

	begin_world(false, link_comes);
	CHECK(link_await_uplink(&f, 3000, &err) == -ETIMEDOUT);
	CHECK(strcmp(err.text, "no uplink within 3 s") == 0);
	CHECK(world.n > 1 && world.n < POLLS_MAX);
	CHECK(world.ms == 1003000);
	/* whoever is late by a moment is there when it is looked for last */
	begin_world(false, route_comes_late);
	CHECK(FINE(link_await_uplink(&f, 2000, &err)) && has_uplink(&f, "up"));
	/* no wait at all */
	begin_world(false, NULL);
	CHECK(link_await_uplink(&f, 0, &err) == -ETIMEDOUT && world.n == 0);
	begin_world(true, NULL);
	CHECK(FINE(link_await_uplink(&f, 0, &err)) && world.n == 0 &&
	      has_uplink(&f, LINK_SINK_IF));
}

static void sink_has_address(void)
{
	give_address(LINK_SINK_IF);
}

/* What comes with a route, but after the list that it belongs to. */
static void read_again(void)
{
	struct link_facts f;

	begin_world(true, NULL);
	world.before = sink_has_address;
	world.kind = RTM_GETROUTE;
	CHECK(FINE(link_await_uplink(&f, 1000, &err)) && world.n == 0);
	CHECK(!world.before && has_uplink(&f, LINK_SINK_IF) &&
	      link_facts_uplink(&f)->has_v4);
}

/* What cannot be read is not waited for. */
static void unread(void)
{
	static const uint16_t kinds[] = {RTM_GETLINK, RTM_GETADDR,
					 RTM_GETROUTE};

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		struct link_facts f = {0};

		begin_world(true, NULL);
		world.fails = kinds[i];
		CHECK(link_await_uplink(&f, 1000, &err) == -EIO &&
		      f.n_ifs == 0);
		world.fails = kinds[i];
		CHECK(link_bridge_up(true, &err) == -EIO && world.n == 0);
		CHECK(strcmp(err.text, "listing links and routes: Input/output "
				       "error") == 0);
	}
}

/* What it is of is whether IPv6 reaches the world, and who the host is. */
static void found(void)
{
	struct uplink u = {.kind = UPLINK_THERE};
	struct names_hosts hosts = {0};
	struct link_facts f = {0};
	bool six = true;

	begin_world(true, NULL);
	CHECK(FINE(uplink_find(&u, &f, &hosts, &six, &err)) && !six);
	CHECK(has_uplink(&f, LINK_SINK_IF) && hosts.n == f.n_gateways);
	/* nothing is known where nothing can be read */
	begin_world(false, NULL);
	make_pair("up", "node");
	give_address6("up");
	add_default("up", AF_INET6);
	six = false;
	memset(&f, 0, sizeof(f));
	hosts.n = 0;
	CHECK_MSG(FINE(uplink_find(&u, &f, &hosts, &six, &err)) && six &&
			  hosts.n == f.n_gateways,
		  "%s %d %u %u", err.text, six, hosts.n, f.n_gateways);
	world.fails = RTM_GETLINK;
	CHECK(uplink_find(&u, &f, &hosts, &six, &err) == -EIO && !six);
}

/* --- the bridge's --------------------------------------------------------- */

static bool bridge_comes(unsigned nth)
{
	world.ms += 20000;
	if (nth == 1)
		make_pair("eth7", "x");
	if (nth == 2)
		give_address("eth7");
	return true;
}

static bool third_comes(unsigned nth)
{
	if (nth == 1) {
		make_pair("eth7", "x");
		give_address("eth7");
		give_address("x");
	}
	return nth == 1;
}

/* An address of IPv6, beside what the kernel gives by itself. */
static bool has_six(const char *name)
{
	struct link_facts f;

	CHECK(FINE(link_facts_read(&f, &err)));
	for (uint32_t i = 0; i < f.n_ifs; i++)
		if (strcmp(f.ifs[i].name, name) == 0)
			return f.ifs[i].has_v6;
	return false;
}

static void bridge(void)
{
	begin_world(true, bridge_comes);
	CHECK(FINE(link_bridge_up(false, &err)));
	CHECK(if_nametoindex(LINK_GATE_IF) && !if_nametoindex("eth7") &&
	      !has_six(LINK_GATE_IF));
	CHECK(world.quiet == 2 && world.n < POLLS_MAX &&
	      world.waits[0] == LINK_BRIDGE_WAIT_MS &&
	      world.waits[world.n - 1] == LINK_BRIDGE_WAIT_MS - 20000);
	begin_world(true, NULL);
	CHECK(link_bridge_up(false, &err) == -ETIMEDOUT &&
	      strcmp(err.text, "no second interface for the agent") == 0);
	CHECK(world.n == 1 && world.ms == 1000000 + LINK_BRIDGE_WAIT_MS);
	/* which of two it is nobody can say */
	begin_world(true, third_comes);
	CHECK(link_bridge_up(false, &err) == -ETIMEDOUT &&
	      world.n < POLLS_MAX && if_nametoindex("eth7"));
}

/* --- forwarding ----------------------------------------------------------- */

static bool is_on(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char c = '0';
	bool on = fd >= 0 && read(fd, &c, 1) == 1 && c == '1';

	close(fd);
	return on;
}

#define FOUR "/proc/sys/net/ipv4/ip_forward"
#define SIX  "/proc/sys/net/ipv6/conf/all/forwarding"

static void forwarding(void)
{
	bool six = false;

	begin_world(false, NULL);
	CHECK(FINE(link_forwarding(&six, &err)) && !six);
	CHECK(is_on(FOUR) && !is_on(SIX));
	six = true;
	CHECK(FINE(link_forwarding(&six, &err)) && six && is_on(SIX));
}

/* Where nobody may mount another procfs. */
static void hide(const char *folder)
{
	struct __user_cap_header_struct who = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct caps[2];

	CHECK(mount("none", folder, "tmpfs", 0, NULL) == 0);
	CHECK(syscall(SYS_capget, &who, caps) == 0);
	caps[CAP_SYS_ADMIN / 32].effective &= ~(1u << CAP_SYS_ADMIN % 32);
	CHECK(syscall(SYS_capset, &who, caps) == 0);
}

/* In a process of its own, whose capabilities do not come back. */
static int without(const char *folder)
{
	unsigned before = check_failed;
	bool six = true;

	begin_world(false, NULL);
	if (strcmp(folder, "/proc/sys/net/ipv6") == 0) {
		hide(folder);
		CHECK(FINE(link_forwarding(&six, &err)) && !six && is_on(FOUR));
	} else {
		CHECK(FINE(link_forwarding(&six, &err)));
		begin_world(false, NULL);
		hide(folder);
		CHECK(link_forwarding(&six, &err) == -EPERM &&
		      strcmp(err.text, "net.ipv4.ip_forward is off") == 0);
	}
	return check_failed != before;
}

static void no_forwarding(void)
{
	static const char *const folders[] = {"/proc/sys/net/ipv6",
					      "/proc/sys/net/ipv4"};

	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		int status = -1;
		pid_t pid = fork();

		if (pid == 0)
			_exit(unshare(CLONE_NEWNS) < 0 || without(folders[i]));
		CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	}
}

int main(void)
{
	if (!enter_room())
		return NOT_HERE;
	comes_in_time();
	comes_late();
	read_again();
	unread();
	found();
	bridge();
	forwarding();
	no_forwarding();
	return check_status();
}
