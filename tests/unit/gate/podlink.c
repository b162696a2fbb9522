/* A Pod's interface, taken and given back, and the fence around that: as the
 * kernel has it, in a network of this test's own. */
#include "runtime/gate/packet/podlink.h"

#include "runtime/gate/packet/fence.h"
#include "runtime/gate/packet/link.h"
#include "runtime/gate/packet/podports.h"
#include "runtime/gate/packet/ruleset.h"
#include "tests/unit/gate/plans.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <malloc.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <nftables/libnftables.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define MTU 1399u

static const uint8_t own[4] = {198, 51, 100, 7}, gateway[4] = {198, 51, 100, 1};
static const uint8_t there[6] = {2, 0, 0, 0, 0, 9};

/* Of IPv6, or of both families, no socket is to be had. */
static enum { ALL_SOCKETS, NO_SIX, NO_SOCKETS } lacks;

/* This takes the C library's place in all of this program. */
int socket(int domain, int type, int protocol)
{
	if ((lacks != ALL_SOCKETS && domain == AF_INET6) ||
	    (lacks == NO_SOCKETS && domain == AF_INET)) {
		errno = EMFILE;
		return -1;
	}
	return (int)syscall(SYS_socket, domain, type, protocol);
}

/* Of commands: what none may have in it, or NULL. */
static const char *refused;

/* This takes the library's place. */
int nft_run_cmd_from_buffer(struct nft_ctx *ctx, const char *command)
{
	static int (*real)(struct nft_ctx *, const char *);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "nft_run_cmd_from_buffer");
	return refused && strstr(command, refused) ? -1 : real(ctx, command);
}

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

	CHECK(FINE(rtnl_open(rt, 0, &err)));
	CHECK(FINE(rtnl_make_pair(rt, &wire, &err)));
	index = if_nametoindex(LINK_AGENT_IF);
	CHECK(FINE(rtnl_set_up(rt, if_nametoindex("lo"), true, &err)));
	CHECK(FINE(rtnl_set_up(rt, if_nametoindex("node"), true, &err)));
	CHECK(FINE(rtnl_set_up(rt, index, true, &err)));
	CHECK(add_address(rt, index) == 0 && add_default(rt, index) == 0 &&
	      add_neighbour(rt, index) == 0);
}

static bool has_uplink(const char *name)
{
	struct link_facts f;
	const struct link_if *up;

	CHECK(FINE(link_facts_read(&f, &err)));
	up = link_facts_uplink(&f);
	return up && strcmp(up->name, name) == 0 && up->mtu == MTU && up->up &&
	       up->has_v4 && f.n_gateways == 1;
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

static const struct link_if *find_if(struct link_facts *f, const char *name)
{
	CHECK(FINE(link_facts_read(f, &err)));
	for (uint32_t i = 0; i < f->n_ifs; i++)
		if (strcmp(f->ifs[i].name, name) == 0)
			return &f->ifs[i];
	return NULL;
}

static bool is_up(const char *name)
{
	struct link_facts f;
	const struct link_if *i = find_if(&f, name);

	return i && i->up;
}

/* Which network it is, of a descriptor; -1: of this process. */
static ino_t network(int fd)
{
	struct stat st = {0};

	CHECK((fd < 0 ? stat("/proc/self/ns/net", &st) : fstat(fd, &st)) == 0);
	return st.st_ino;
}

/* There is an end to what can be taken along. */
static void too_much(void)
{
	static struct podlink l = {.copy.n = LINK_COPY_BYTES - 64};

	CHECK(podlink_leave(&l, &err) == -E2BIG &&
	      strcmp(err.text, "the Pod's interface has too much to take "
			       "along") == 0);
	rtnl_done(&l.pod);
	close(l.netns);
}

/* A gate's own link, with all that a wire has, is none. */
static void of_another_gate(void)
{
	CHECK(FINE(link_gate_up(getpid(), MTU, false, &err)) &&
	      FINE(link_agent_up(false, &err)));
	CHECK(has_uplink(LINK_AGENT_IF) && no_wire() == -ENODEV);
	new_network(false);
}

/* --- ports ---------------------------------------------------------------- */

static int option_of(int fd, int level, int option)
{
	int value = -1;
	socklen_t n = sizeof(value);

	CHECK(getsockopt(fd, level, option, &value, &n) == 0);
	return value;
}

static bool is_listening(int fd, uint16_t port)
{
	struct sockaddr_in6 at = {0};
	struct tcp_info info = {0};
	socklen_t n = sizeof(at), m = sizeof(info);

	return getsockname(fd, (struct sockaddr *)&at, &n) == 0 &&
	       at.sin6_family == AF_INET6 && ntohs(at.sin6_port) == port &&
	       option_of(fd, SOL_SOCKET, SO_ACCEPTCONN) == 1 &&
	       option_of(fd, IPPROTO_IPV6, IPV6_V6ONLY) == 0 &&
	       getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &m) == 0 &&
	       info.tcpi_sacked == 128 && fcntl(fd, F_GETFD) == FD_CLOEXEC;
}

/* The third network has the Pod's addresses and routes once more. */
static void third_network(int of)
{
	int here = podlink_netns(&err), third = ioctl(of, SIOCGSKNS);
	struct link_facts f, own_f;
	const struct link_if *own_if = find_if(&own_f, LINK_AGENT_IF), *i;

	CHECK(third >= 0 && network(third) != network(here));
	CHECK(setns(third, CLONE_NEWNET) == 0);
	CHECK(has_uplink("ports1"));
	i = find_if(&f, "ports1");
	CHECK(i && own_if && memcmp(i->mac, own_if->mac, 6) == 0 && !i->has_v6);
	CHECK(f.n_ifs == 2 && !is_up("lo"));
	CHECK(setns(here, CLONE_NEWNET) == 0);
	close(third);
	close(here);
}

/* Kernels differ in what of nf_tables they have. */
static bool hands_frames_on(void)
{
	static const char text[] =
		"table netdev try {\n"
		"	chain in {\n"
		"		type filter hook ingress device \"lo\" priority filter; policy accept;\n"
		"		arp operation reply dup to \"lo\"\n"
		"		tcp dport 1 fwd to \"lo\"\n"
		"	}\n"
		"}\n";
	bool ok = FINE(ruleset_put("netdev try", STR(text), &err)) &&
		  FINE(ruleset_drop("netdev try", &err));

	if (!ok)
		printf("no ports here: %s\n", err.text);
	return ok;
}

/*
 * The network of its other end is nobody's any more, and the kernel takes both
 * away with it when it comes to that: before this, or in the midst of it.
 */
static void remove_link(const char *name)
{
	auto_rtnl struct rtnl rt = {0};
	uint32_t index = if_nametoindex(name);
	struct nlmsghdr *h;
	struct ifinfomsg *ifi;
	int rc;

	if (!index)
		return;
	CHECK(FINE(rtnl_open(&rt, 0, &err)));
	h = rtnl_begin(&rt, RTM_DELLINK, NLM_F_ACK);
	ifi = mnl_nlmsg_put_extra_header(h, sizeof(*ifi));
	ifi->ifi_index = (int)index;
	rc = say(&rt, h);
	CHECK_MSG(rc == 0 || rc == -ENODEV, "%s: %d", name, rc);
}

static bool has_table(const char *table)
{
	struct nft_ctx *ctx = nft_ctx_new(NFT_CTX_DEFAULT);
	char command[64];
	bool ok;

	snprintf(command, sizeof(command), "list table %s", table);
	nft_ctx_buffer_output(ctx);
	nft_ctx_buffer_error(ctx);
	ok = nft_run_cmd_from_buffer(ctx, command) == 0;
	nft_ctx_free(ctx);
	return ok;
}

/* One table is as good as none: nobody listens then. */
static void without_table(const struct podlink *l, const char *table)
{
	static const uint16_t ports[] = {8080};
	int before = next_fd(), fd = -1;

	refused = table;
	CHECK(podports_open(l, ports, 1, &fd, &err) == -EINVAL &&
	      strcmp(err.text, "nft: no reason given") == 0);
	refused = NULL;
	CHECK(next_fd() == before);
	remove_link("ports0");
}

/* What this process has of memory; under sanitizers nothing is said of it. */
static size_t memory(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

/* Nor is any memory, but for malloc(3)'s own store. */
static void nothing_kept(const struct podlink *l)
{
	size_t before = memory();

	for (int i = 0; i < 4; i++)
		without_table(l, "table inet ports");
	CHECK_MSG(memory() < before + 16384, "%zu %zu", memory(), before);
}

/* A kernel without IPv6 has the other one. */
static void without_six(const struct podlink *l)
{
	static const uint16_t ports[] = {8080};
	struct sockaddr_in at = {0};
	socklen_t n = sizeof(at);
	int fd = -1, aside;

	remove_link("ports0");
	without_table(l, "table netdev ports");
	without_table(l, "table inet ports");
	nothing_kept(l);
	aside = fcntl(0, F_DUPFD_CLOEXEC, 1);
	lacks = NO_SIX;
	CHECK(aside > 0 && close(0) == 0); /* a descriptor like others */
	CHECK(FINE(podports_open(l, ports, 1, &fd, &err)));
	CHECK(dup2(aside, 0) == 0 && close(aside) == 0);
	lacks = ALL_SOCKETS;
	CHECK(getsockname(fd, (struct sockaddr *)&at, &n) == 0 &&
	      at.sin_family == AF_INET && ntohs(at.sin_port) == 8080 &&
	      at.sin_addr.s_addr == 0);
	close(fd);
}

static void ports_of(const struct podlink *l)
{
	/* the last is nobody's: there are two */
	static const uint16_t ports[] = {80, 8080, 8080}, twice[] = {80, 80};
	static const uint16_t many[LIMIT_PUBLISHED + 1] = {1};
	ino_t here = network(-1);
	int fds[2] = {-1, -1}, more[2], before = next_fd(), held;
	unsigned files = open_files();

	CHECK(FINE(podports_open(l, ports, 0, fds, &err)) && fds[0] == -1);
	CHECK(podports_open(l, many, LIMIT_PUBLISHED + 1, fds, &err) ==
		      -EPROTO &&
	      strcmp(err.text, "too many published ports") == 0);
	if (!hands_frames_on())
		return;
	/* one that is taken leaves nothing, and the process where it was */
	CHECK(podports_open(l, twice, 2, fds, &err) == -EADDRINUSE &&
	      strcmp(err.text, "port 80 of the Pod: Address already in use") ==
		      0);
	CHECK(next_fd() == before && open_files() == files &&
	      network(-1) == here && !if_nametoindex("ports0"));
	lacks = NO_SOCKETS;
	CHECK(podports_open(l, ports, 2, fds, &err) == -EMFILE &&
	      strcmp(err.text, "port 80 of the Pod: Too many open files") == 0);
	lacks = ALL_SOCKETS;
	CHECK(FINE(podports_open(l, ports, 2, fds, &err)));
	CHECK(network(-1) == here);
	CHECK(is_listening(fds[0], 80) && is_listening(fds[1], 8080));
	CHECK(is_up("ports0") && !if_nametoindex("ports1"));
	CHECK(has_table("netdev ports") && has_table("inet ports"));
	third_network(fds[0]);
	third_network(fds[1]);
	/* what is there already is not made twice */
	held = next_fd();
	CHECK(podports_open(l, ports, 2, more, &err) == -EEXIST &&
	      strcmp(err.text, "making the link ports0: File exists") == 0);
	CHECK(next_fd() == held);
	close(fds[0]);
	close(fds[1]);
	CHECK(next_fd() == before);
	without_six(l);
	CHECK(next_fd() == before);
}

/* --- the wire ------------------------------------------------------------- */

/* Somebody who stays in P. */
static pid_t agent(int back)
{
	pid_t pid = fork();

	if (pid == 0) {
		(void)setns(back, CLONE_NEWNET);
		for (;;)
			pause();
	}
	return pid;
}

static void pair_with(pid_t peer)
{
	const struct rtnl_pair p = {.name = LINK_GATE_IF,
				    .other = LINK_AGENT_IF,
				    .peer = peer,
				    .mtu = 1300};
	auto_rtnl struct rtnl rt = {0};

	CHECK(FINE(rtnl_open(&rt, 0, &err)) &&
	      FINE(rtnl_make_pair(&rt, &p, &err)));
	CHECK(if_nametoindex(LINK_GATE_IF));
}

/* In N from then on; back is P. */
static void take_and_return(int back)
{
	static struct podlink l;
	struct link_facts f;
	const struct link_if *wire;
	int before = next_fd();
	pid_t pid = agent(back);

	CHECK(FINE(podlink_return(&l, &err))); /* nothing was taken */
	CHECK(FINE(podlink_leave(&l, &err)) && !if_nametoindex(LINK_AGENT_IF));
	CHECK(network(-1) != network(back) &&
	      network(l.netns) == network(back));
	CHECK(is_up("lo") && !l.taken);
	CHECK(FINE(podlink_take(&l, &err)) && has_uplink(LINK_AGENT_IF));
	CHECK(l.taken);
	pair_with(pid);
	ports_of(&l);
	CHECK(FINE(podlink_return(&l, &err)) && !if_nametoindex(LINK_AGENT_IF));
	CHECK(!if_nametoindex(LINK_GATE_IF) && !l.taken);
	CHECK(FINE(podlink_return(&l, &err)));
	CHECK(setns(back, CLONE_NEWNET) == 0);
	wire = find_if(&f, LINK_AGENT_IF);
	CHECK(wire && !wire->up && wire->has_v4 && wire->mtu == MTU);
	CHECK(f.n_defaults == 0);
	CHECK(no_wire() == -ENODEV);
	rtnl_done(&l.pod);
	close(l.netns);
	CHECK(next_fd() == before);
	kill(pid, SIGKILL);
	CHECK(waitpid(pid, NULL, 0) == pid);
}

static void fences(void)
{
	if (fence_raise(&err) < 0) {
		printf("no fence here: %s\n", err.text);
		return;
	}
	CHECK(FINE(fence_raise(&err)));
	CHECK(FINE(fence_lift(&err)) && FINE(fence_lift(&err)));
}

static int in_namespaces(void)
{
	static struct rtnl rt;
	int back;

	CHECK(no_wire() == -ENODEV); /* an empty one */
	of_another_gate();
	make_pod(&rt);
	/* its other end is an interface that is none of the agent's */
	CHECK(podlink_alone(&err) == -EBUSY &&
	      strcmp(err.text, "the Pod has another interface, node, which no "
			       "policy is held on") == 0);
	CHECK(FINE(rtnl_set_up(&rt, if_nametoindex("node"), false, &err)));
	CHECK(FINE(podlink_alone(&err)));
	/* one that is down leads nowhere */
	CHECK(FINE(
		rtnl_set_up(&rt, if_nametoindex(LINK_AGENT_IF), false, &err)));
	CHECK(no_wire() == -ENODEV);
	CHECK(FINE(
		rtnl_set_up(&rt, if_nametoindex(LINK_AGENT_IF), true, &err)));
	CHECK(FINE(rtnl_set_up(&rt, if_nametoindex("node"), true, &err)));
	CHECK(no_wire() == -ENODEV); /* the route went with it */
	CHECK(add_default(&rt, if_nametoindex(LINK_AGENT_IF)) == 0);
	fences();
	close(0); /* a descriptor like others */
	too_much();
	back = podlink_netns(&err);
	CHECK(back == 0 && network(back) == network(-1));
	take_and_return(back);
	close(back);
	rtnl_done(&rt);
	return check_status();
}

int main(void)
{
	return enter_room() ? in_namespaces() : NOT_HERE;
}
