/*
 * membrane-gate in a Pod, where nobody launches it: the fence before all else,
 * the wire that it takes, what it says to probes, and how it ends; and in a Pod
 * of its own, where there is no wire. Each has a network of its own.
 */
#include "compiler/plan/gate.h"
#include "runtime/gate/l7/hello.h"
#include "runtime/gate/packet/fence.h"
#include "runtime/gate/packet/rtnl.h"
#include "tests/unit/gate/sessions.h"

#include <linux/capability.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define POD   "--link wire --plan " PLAN
#define APART "--link apart --plan " PLAN
#define WIRE  "{\"version\":1,\"link\":\"wire\"}"
#define ALONE                                                                  \
	"{\"version\":1,\"link\":\"apart\",\"addresses\":[\"10.96.0.53\"]}"
#define DIGEST                                                                 \
	"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static const uint8_t own[4] = {198, 51, 100, 7}, gateway[4] = {198, 51, 100, 1};

/* --- what a Pod begins with ----------------------------------------------- */

static void add_address(struct rtnl *rt, uint32_t index)
{
	struct nlmsghdr *h = rtnl_begin(rt, RTM_NEWADDR,
					NLM_F_CREATE | NLM_F_EXCL | NLM_F_ACK);
	struct ifaddrmsg *ifa = mnl_nlmsg_put_extra_header(h, sizeof(*ifa));

	ifa->ifa_family = AF_INET;
	ifa->ifa_prefixlen = 24;
	ifa->ifa_index = index;
	mnl_attr_put(h, IFA_LOCAL, 4, own);
	mnl_attr_put(h, IFA_ADDRESS, 4, own);
	CHECK(rtnl_talk(rt, h, NULL, NULL) == 0);
}

static void add_default(struct rtnl *rt, uint32_t index)
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
	CHECK(rtnl_talk(rt, h, NULL, NULL) == 0);
}

/* The other end of its wire is in here, too, and down: nobody's. */
static void new_pod(void)
{
	const struct rtnl_pair wire = {
		.name = LINK_AGENT_IF, .other = "node", .mtu = 1400};
	static struct rtnl rt;
	uint32_t index;

	new_network(false);
	CHECK(rtnl_open(&rt, 0, &err) == 0 &&
	      rtnl_make_pair(&rt, &wire, &err) == 0);
	index = if_nametoindex(LINK_AGENT_IF);
	CHECK(rtnl_set_up(&rt, index, true, &err) == 0);
	add_address(&rt, index);
	add_default(&rt, index);
	rtnl_done(&rt);
}

static bool set_up_beside(void)
{
	static struct rtnl rt;
	bool ok = rtnl_open(&rt, 0, &err) == 0 &&
		  rtnl_set_up(&rt, if_nametoindex("node"), true, &err) == 0;

	rtnl_done(&rt);
	return ok;
}

static bool is_up(const char *name)
{
	struct ifreq r = {.ifr_flags = 0};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", name);
	CHECK(ioctl(fd, SIOCGIFFLAGS, &r) == 0);
	close(fd);
	return r.ifr_flags & IFF_UP;
}

static int probe(void)
{
	struct gate g = start("--ready");

	return end_of(&g);
}

/* --- PID 1 ---------------------------------------------------------------- */

/* It has given up what it needed. */
static void privileges(pid_t pid)
{
	char path[64], text[4096] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	CHECK(strstr(text, "CapEff:\t0000000000000000") &&
	      strstr(text, "CapPrm:\t0000000000000000") &&
	      strstr(text, "NoNewPrivs:\t1"));
}

static struct gate begin(const char *words)
{
	struct gate g;

	g = start(words);
	CHECK(says(&g, "\"event\":\"ready\"") &&
	      strstr(g.line, "\"session\":\"0123\""));
	CHECK(probe() == 0);
	privileges(g.pid);
	return g;
}

/* What is on its stdin nobody has said, and nobody reads. */
static void unread_stdin(struct gate *g)
{
	int n = 0;

	tell(g, "nonsense\n");
	CHECK(probe() == 0);
	CHECK(kill(g->pid, SIGTERM) == 0 && says(g, "\"event\":\"done\""));
	CHECK(end_by_itself(g) == 0);
	CHECK(ioctl(g->in, FIONREAD, &n) < 0 || n == 9);
}

/* --- beside the agent ----------------------------------------------------- */

static void wire(void)
{
	struct gate g;

	new_pod();
	put_plan("docker.json", WIRE);
	CHECK(probe() == 1);
	g = begin(POD);
	CHECK(!is_fenced() && is_up(LINK_AGENT_IF));
	CHECK(inode_of(g.pid, "net") == inode_of(getpid(), "net"));
	CHECK(inode_of(child_of(g.pid), "net") != inode_of(g.pid, "net"));
	unread_stdin(&g);
	/* given back, and down */
	CHECK(!is_up(LINK_AGENT_IF) && probe() == 1);
}

/* --- its ports ------------------------------------------------------------ */

static bool listens(int fd)
{
	int on = 0;
	socklen_t n = sizeof(on);

	return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &n) == 0 && on;
}

/* PID 1's second child has the sockets, and nobody is in their network. */
static int network_of_ports(pid_t first)
{
	int pidfd = (int)syscall(SYS_pidfd_open, nth_child(first, 1), 0);
	int there = -1;

	for (int i = 0; pidfd >= 0 && there < 0 && i < 32; i++) {
		int fd = (int)syscall(SYS_pidfd_getfd, pidfd, i, 0);

		if (fd >= 0 && listens(fd))
			there = ioctl(fd, SIOCGSKNS);
		close(fd);
	}
	close(pidfd);
	return there;
}

static int call_there(int there, uint16_t port)
{
	const struct sockaddr_in at = loopback_at(port);
	int here = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), fd;

	CHECK(setns(there, CLONE_NEWNET) == 0 && loopback_up());
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(connect(fd, (const struct sockaddr *)&at, sizeof(at)) == 0);
	CHECK(setns(here, CLONE_NEWNET) == 0);
	close(here);
	return fd;
}

/* A server inside hears of it. */
static void lead_inside(int there)
{
	const struct sockaddr_in at = loopback_at(8080);
	int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), client,
	    inside;
	char said = 0;

	CHECK(bind(server, (const struct sockaddr *)&at, sizeof(at)) == 0 &&
	      listen(server, 1) == 0);
	client = call_there(there, 8080);
	CHECK(comes(server));
	inside = accept(server, NULL, NULL);
	CHECK(send(inside, "x", 1, 0) == 1 && comes(client) &&
	      recv(client, &said, 1, 0) == 1 && said == 'x');
	close(inside);
	close(client);
	close(server);
	client = call_there(there, 9090); /* where nobody listens */
	CHECK(comes(client) && recv(client, &said, 1, 0) <= 0);
	close(client);
}

/* They lead to the agent's loopback, and each to its own. */
static void ports(void)
{
	struct gate g;
	int there;

	new_pod();
	put_plan("docker.json",
		 "{\"version\":1,\"link\":\"wire\",\"published\":["
		 "{\"addr\":\"127.0.0.1\",\"port\":3000,\"to\":9090},"
		 "{\"addr\":\"127.0.0.1\",\"port\":3001,\"to\":8080}]}");
	g = start(POD);
	if (!says(&g, "\"event\":")) {
		CHECK(false);
		return;
	}
	if (!strstr(g.line, "\"event\":\"ready\"")) {
		/* kernels differ in what of nf_tables they have */
		printf("no ports here: %s\n", g.line);
		CHECK(end_by_itself(&g) == 1);
		return;
	}
	there = network_of_ports(g.pid);
	CHECK(there >= 0);
	lead_inside(there);
	close(there);
	CHECK(kill(g.pid, SIGTERM) == 0 && says(&g, "\"event\":\"done\""));
	CHECK(end_by_itself(&g) == 0);
	put_plan("docker.json", WIRE);
}

/* With it the wire is gone. */
static void killed_worker(void)
{
	struct gate g;

	new_pod();
	g = begin(POD);
	kill_child(g.pid);
	CHECK(end_by_itself(&g) == 1 && probe() == 1);
}

/* Whatever it is, the fence stands behind it. */
static void refused(const char *words, const char *why)
{
	refuses(words, "", why);
	CHECK_MSG(is_fenced() && probe() == 1, "%s", why);
}

/* The Pod's gateway is one more than there is room for. */
static void too_many_hosts(void)
{
	char hosts[NAMES_HOSTS_MAX * 16] = "11.0.1.0";

	for (unsigned i = 1; i < NAMES_HOSTS_MAX; i++)
		snprintf(hosts + strlen(hosts), sizeof(hosts) - strlen(hosts),
			 ",11.0.1.%u", i);
	setenv(HELLO_POD_HOSTS, hosts, 1);
	refused(POD, "too many addresses of the host");
	setenv(HELLO_POD_HOSTS, "11.0.0.99", 1);
}

/* No fence can be raised, and so there is nothing to try. */
static void without_rights(void)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		CHECK(prctl(PR_CAPBSET_DROP, CAP_NET_ADMIN, 0, 0, 0) == 0);
		refuses(POD, "", "the fence: ");
		CHECK(run("--fence", "the fence: ") == 1);
		_exit(check_status());
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

static void refusals(void)
{
	static const struct {
		const char *text, *why;
	} links[] = {
		{"{\"version\":1,\"link\":\"bridge\"}", "a Pod has none"},
		{"{\"version\":1,\"link\":\"veth\",\"host_ports\":[22]}",
		 "ports of the host, which"},
		{ALONE, "--link apart, and"},
	};

	new_pod();
	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++) {
		put_plan("docker.json", links[i].text);
		refused(POD, links[i].why);
	}
	put_plan("docker.json", WIRE);
	refused(POD " --digest " DIGEST, PLAN);
	CHECK(symlink("../elsewhere", PLAN "/..data") == 0);
	refused(POD, "no link of the kubelet's");
	CHECK(unlink(PLAN "/..data") == 0);
	unsetenv(HELLO_POD_HOSTS);
	refused(POD, HELLO_POD_HOSTS);
	setenv(HELLO_POD_HOSTS, "11.0.0.99", 1);
	CHECK(is_up(LINK_AGENT_IF));
	without_rights();
	/* what no policy is held on */
	CHECK(set_up_beside());
	refused(POD, "another interface, node");
	CHECK(!is_up(LINK_AGENT_IF));
	refused(POD, "no wire here");
	new_pod();
	too_many_hosts();
	/* its probe's file cannot be */
	new_pod();
	CHECK(unlink(GATE_READY) == 0 && mkdir(GATE_READY, 0755) == 0);
	refuses(POD, "", GATE_READY ": Is a directory");
	CHECK(rmdir(GATE_READY) == 0);
}

/* --- in a Pod of its own -------------------------------------------------- */

static void apart(void)
{
	struct gate g;

	new_network(true);
	put_plan("docker.json", ALONE);
	/* as a kubelet mounts it */
	CHECK(mkdir("/run/map", 0755) == 0 &&
	      symlink(PLAN, "/run/map/..1") == 0 &&
	      symlink("..1", "/run/map/..data") == 0);
	g = begin("--link apart --plan /run/map");
	CHECK(!is_fenced() && !forwards());
	CHECK(inode_of(child_of(g.pid), "net") == inode_of(g.pid, "net"));
	unread_stdin(&g);
	CHECK(probe() == 1);
	CHECK(unlink(GATE_READY) == 0 && mkdir(GATE_READY, 0755) == 0);
	refuses(APART, "", GATE_READY ": Is a directory");
	CHECK(rmdir(GATE_READY) == 0);
	put_plan("docker.json", WIRE);
	refuses(APART, "", "--link apart, and");
	put_plan("docker.json", ALONE);
	new_network(false);
	refuses(APART, "", "no default route");
}

int main(void)
{
	if (!enter_room())
		return NOT_HERE;
	find_program();
	put_whole_plan();
	setenv(HELLO_POD_SESSION, "0123", 1);
	setenv(HELLO_POD_HOSTS, "11.0.0.99", 1);
	wire();
	ports();
	killed_worker();
	refusals();
	apart();
	return check_status();
}
