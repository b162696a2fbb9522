/* What is asked of rtnetlink, and what is done about its answers. */
#include "runtime/gate/packet/podlink.h"
#include "tests/unit/gate/answered.h"

#include <arpa/inet.h>

/* --- routes and links ----------------------------------------------------- */

/* The first message of this kind, and of this family where one is said. */
static struct {
	uint16_t type;
	uint8_t family;
	int code;
} refused;

static int refuses(const struct nlmsghdr *h)
{
	const struct rtgenmsg *g = mnl_nlmsg_get_payload(h);

	return h->nlmsg_type == refused.type &&
			       (!refused.family ||
				g->rtgen_family == refused.family)
		       ? refused.code
		       : 0;
}

static void begin_refusing(uint16_t type, uint8_t family, int code)
{
	begin_kernel(refuses);
	refused.type = type;
	refused.family = family;
	refused.code = code;
}

static void link_local(void)
{
	static const int fine[] = {0, -EAFNOSUPPORT, -EOPNOTSUPP};
	struct rtnl rt = {0};

	CHECK(FINE(rtnl_open(&rt, 0, &err)));
	for (size_t i = 0; i < ARRAY_LEN(fine); i++) {
		begin_refusing(RTM_NEWLINK, 0, fine[i]);
		CHECK(FINE(rtnl_no_link_local(&rt, 1, &err)));
	}
	begin_refusing(RTM_NEWLINK, 0, -EPERM);
	CHECK(is_error(rtnl_no_link_local(&rt, 1, &err), -EPERM,
		       "no link-local address: Operation not permitted"));
	CHECK(is_error(rtnl_set_up(&rt, 1, true, &err), -EPERM,
		       "setting a link up: Operation not permitted"));
	CHECK(is_error(rtnl_set_up(&rt, 1, false, &err), -EPERM,
		       "setting a link down: Operation not permitted"));
	rtnl_done(&rt);
	CHECK(!rt.nl);
	rtnl_done(&rt);
}

static int count_messages(const struct nlmsghdr *h, void *data)
{
	unsigned *n = data;

	*n += h->nlmsg_type == RTM_NEWLINK;
	return MNL_CB_OK;
}

/* An answer in parts, and ones that are not. */
static void talks(void)
{
	struct rtnl rt = {0};
	unsigned n = 0;
	uint32_t seq;

	CHECK(FINE(rtnl_open(&rt, 0, &err)));
	seq = rt.seq + 1;
	begin_kernel(says_nothing);
	put_nothing(); /* which is none, and not the last */
	put_message(RTM_NEWLINK, seq, 16)->nlmsg_flags = NLM_F_MULTI;
	put_message(RTM_NEWLINK, seq, 16)->nlmsg_flags = NLM_F_MULTI;
	put_message(NLMSG_DONE, seq, 4)->nlmsg_flags = NLM_F_MULTI;
	put_failure(EIO);
	CHECK(FINE(rtnl_dump(&rt, RTM_GETLINK, 16, count_messages, &n, &err)));
	CHECK(n == 2 && kernel.at == 4);
	begin_kernel(says_nothing);
	put_message(RTM_NEWLINK, seq + 1, 16)->nlmsg_flags = NLM_F_MULTI;
	put_failure(EIO);
	CHECK(is_error(
		rtnl_dump(&rt, RTM_GETLINK, 16, count_messages, &n, &err), -EIO,
		"listing links and routes: Input/output error"));
	/* to another question */
	begin_kernel(says_nothing);
	put_message(RTM_NEWLINK, seq + 1, 16)->nlmsg_flags = NLM_F_MULTI;
	CHECK(rtnl_dump(&rt, RTM_GETLINK, 16, count_messages, &n, &err) ==
	      -EPROTO);
	rtnl_done(&rt);
}

/* What a kernel without IPv6 says to a route; what there is already. */
static void routes(void)
{
	bool ipv6 = true;

	new_network(false);
	begin_kernel(NULL);
	CHECK(FINE(link_sink_up(&ipv6, &err)) && ipv6);
	begin_refusing(RTM_NEWROUTE, AF_INET6, -EOPNOTSUPP);
	CHECK(FINE(link_sink_up(&ipv6, &err)) && !ipv6);
	begin_kernel(says_yes);
	CHECK(FINE(link_sink_up(&ipv6, &err)) && !ipv6);
	ipv6 = true;
	CHECK(FINE(link_sink_up(&ipv6, &err)) && ipv6);
	begin_refusing(RTM_NEWROUTE, AF_INET, -EEXIST);
	CHECK(is_error(link_sink_up(&ipv6, &err), -EEXIST,
		       "a route to nowhere: File exists"));
	begin_refusing(RTM_NEWRULE, 0, -EEXIST);
	CHECK(FINE(link_tproxy_up(&err)));
	begin_refusing(RTM_NEWRULE, 0, -EPERM);
	CHECK(is_error(link_tproxy_up(&err), -EPERM,
		       "rule for marked packets: Operation not permitted"));
	begin_refusing(RTM_NEWROUTE, 0, -EEXIST);
	CHECK(is_error(link_tproxy_up(&err), -EEXIST,
		       "route for marked packets: File exists"));
}

/* Of names: the one that is not found, or NULL; whether all others are. */
static const char *unknown;
static bool all_known;

unsigned if_nametoindex(const char *name)
{
	unsigned index = 0;
	struct ifreq r = {0};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	strncpy(r.ifr_name, name, IFNAMSIZ - 1);
	if (all_known)
		index = 5;
	else if (ioctl(fd, SIOCGIFINDEX, &r) == 0)
		index = (unsigned)r.ifr_ifindex;
	close(fd);
	errno = ENODEV;
	return unknown && strcmp(unknown, name) == 0 ? 0 : index;
}

/* An interface that is not there any more when it is looked for. */
static void gone(void)
{
	bool ipv6 = true;

	new_network(false);
	begin_kernel(says_yes);
	unknown = "lo";
	CHECK(is_error(link_machine_up(&err), -ENODEV,
		       "interface lo: No such device"));
	CHECK(is_error(link_tproxy_up(&err), -ENODEV,
		       "interface lo: No such device"));
	CHECK(is_error(link_agent_up(true, &err), -ENODEV,
		       "interface lo: No such device"));
	CHECK(kernel.n_sent == 0);
	unknown = NULL;
	CHECK(is_error(link_agent_up(true, &err), -ENODEV,
		       "interface eth0: No such device") &&
	      kernel.n_sent == 1);
	CHECK(is_error(link_gate_up(1, 1399, true, &err), -ENODEV,
		       "interface agent0: No such device") &&
	      kernel.n_sent == 2);
	CHECK(is_error(link_sink_up(&ipv6, &err), -ENODEV,
		       "interface sink: No such device") &&
	      ipv6 && kernel.n_sent == 3);
	CHECK(is_error(link_gate_down(&err), -ENODEV,
		       "interface agent0: No such device") &&
	      kernel.n_sent == 3);
}

/* Since the last time. */
static bool is_said(const char *want)
{
	bool same = strcmp(kernel.said, want) == 0;

	if (!same)
		fprintf(stderr, "said:\n%swanted:\n%s", kernel.said, want);
	kernel.said[0] = '\0';
	return same;
}

#define NO_ADDRESS	"10001a800c000a800500080001000"
#define FOUR(last)	"08000200c000000" last " 08000100c000000" last
#define SIX(type, last) "14000" type "00fd006d656d620000000000000000000" last

/* A pair, both of whose ends are here: 1 is loopback, 3 the near end. */
static void near_ends(void)
{
	bool ipv6 = true;
	char pair[1024];

	begin_kernel(NULL);
	new_network(false);
	kernel.noted = true;
	CHECK(FINE(link_sink_up(&ipv6, &err)) && ipv6);
	CHECK(is_said("16 605 00000000000000000000000000000000 "
		      "0900030073696e6b00 08000400f0ff0000 "
		      "3800128008000100766574682c0002802800018000000000000000"
		      "0000000000000000000a00030073696e6b7800000008000400f0ff"
		      "0000\n"
		      "16 5 00000000030000000000000000000000 " NO_ADDRESS
		      "400\n"
		      "16 5 00000000030000000100000001000000\n"
		      "24 605 02000000fe03fd0100000000 0800040003000000\n"
		      "24 605 0a000000fe03fd0100000000 0800040003000000\n"));
	new_network(false);
	CHECK(FINE(link_gate_up(getpid(), 1399, true, &err)));
	snprintf(
		pair, sizeof(pair),
		"16 605 00000000000000000000000000000000 "
		"0b0003006167656e743000 0800040077050000 "
		"0a000100026d656d6201 "
		"4c0012800800010076657468400002803c00018000000000000000000000"
		"0000000000000900030065746830000000000800040077050000"
		"0a000100026d656d6202000008001300%08x\n%s",
		htonl((uint32_t)getpid()),
		"16 5 00000000030000000000000000000000 " NO_ADDRESS "400\n"
		"20 505 021e000003000000 " FOUR(
			"1") "\n"
			     "16 5 00000000030000000100000001000000\n"
			     "20 505 0a40020003000000 " SIX("2", "1") " " SIX(
				     "1",
				     "1") "\n"
					  "28 505 020000000300000080000000 08000100c0000002 "
					  "0a000200026d656d6202\n"
					  "28 505 0a0000000300000080000000 " SIX(
						  "1",
						  "2") " 0a000200026d656d6202\n");
	CHECK(is_said(pair));
	CHECK(FINE(link_gate_down(&err)));
	CHECK(is_said("16 5 00000000030000000000000001000000\n"));
}

/* 2 is the far end. */
static void far_end(void)
{
	CHECK(FINE(link_agent_up(true, &err)));
	CHECK(is_said(
		"16 5 00000000010000000100000001000000\n"
		"16 5 00000000020000000000000000000000 " NO_ADDRESS "000\n"
		"20 505 021e000002000000 " FOUR(
			"2") "\n"
			     "16 5 00000000020000000100000001000000\n"
			     "20 505 0a40020002000000 " SIX("2", "2") " " SIX(
				     "1",
				     "2") "\n"
					  "28 505 020000000200000080000000 08000100c0000001 "
					  "0a000200026d656d6201\n"
					  "24 605 02000000fe03000100000000 0800040002000000 "
					  "08000500c0000001\n"
					  "28 505 0a0000000200000080000000 " SIX(
						  "1",
						  "1") " 0a000200026d656d6201\n"
						       "24 605 0a000000fe03000100000000 0800040002000000 " SIX(
							       "5", "1") "\n"));
	/* what has a default route already has another gate */
	CHECK(link_agent_up(true, &err) == -EEXIST &&
	      strcmp(err.text, "route through 192.0.0.1: File exists") == 0);
	kernel.said[0] = '\0';
}

/* What each asks for, to the byte: numbers are in the order of a processor that
 * begins with the low one. */
static void questions(void)
{
	if (htonl(1) == 1)
		return;
	near_ends();
	far_end();
	CHECK(FINE(link_tproxy_up(&err)));
	CHECK(is_said("16 5 00000000010000000100000001000000\n"
		      "32 605 0a0000006400000100000000 08000a0001000000 "
		      "08000f0064000000 08000600fd7f0000\n"
		      "24 505 0a0000006403fe0200000000 0800040001000000\n"));
	CHECK(FINE(link_machine_up(&err)));
	CHECK(is_said("16 5 00000000010000000100000001000000\n"
		      "20 505 0220000001000000 " FOUR("5") "\n"));
}

/* --- a Pod ---------------------------------------------------------------- */

/* A list of so many interfaces, and no addresses and routes. */
static void put_interfaces(unsigned n)
{
	begin_kernel(says_nothing);
	for (unsigned i = 0; i < n; i++) {
		struct nlmsghdr *h = put_message(RTM_NEWLINK, 1, 16);
		struct ifinfomsg *ifi = NLMSG_DATA(h);

		h->nlmsg_flags = NLM_F_MULTI;
		ifi->ifi_index = (int)i + 1;
	}
	for (uint32_t seq = 1; seq < 4; seq++)
		put_message(NLMSG_DONE, seq, 4)->nlmsg_flags = NLM_F_MULTI;
}

/* A way out by that interface. */
static void put_default(uint32_t seq, uint32_t index)
{
	struct nlmsghdr *h =
		put_message(RTM_NEWROUTE, seq, sizeof(struct rtmsg));
	struct rtmsg *r = NLMSG_DATA(h);

	h->nlmsg_flags = NLM_F_MULTI;
	r->rtm_family = AF_INET;
	r->rtm_table = RT_TABLE_MAIN;
	r->rtm_type = RTN_UNICAST;
	mnl_attr_put_u32(h, RTA_OIF, index);
	kernel.v[kernel.n - 1].n = h->nlmsg_len;
}

static void alone(void)
{
	uint32_t index;

	put_interfaces(LINK_IFS_MAX - 1);
	CHECK(FINE(podlink_alone(&err)));
	put_interfaces(LINK_IFS_MAX);
	CHECK(is_error(podlink_alone(&err), -E2BIG,
		       "the Pod has too many interfaces"));
	/* one that is up is said, however many there are */
	put_interfaces(LINK_IFS_MAX);
	((struct ifinfomsg *)NLMSG_DATA((void *)kernel.v[0].room))->ifi_flags =
		IFF_UP;
	CHECK(is_error(podlink_alone(&err), -EBUSY,
		       "the Pod has another interface, , which no policy is "
		       "held on"));
	/* behind the last there is none, whatever is known of routes: of these
	 * the numbers' bytes would be one that is up, and no loopback */
	put_interfaces(LINK_IFS_MAX);
	kernel.n--;
	memcpy(&index, (uint8_t[4]){1, 1, 1, 0}, sizeof(index));
	for (uint32_t i = 0; i < LINK_GATEWAYS_MAX; i++)
		put_default(3, index);
	put_message(NLMSG_DONE, 3, 4)->nlmsg_flags = NLM_F_MULTI;
	CHECK(is_error(podlink_alone(&err), -E2BIG,
		       "the Pod has too many interfaces"));
}

/* What was there is asked for again, each with a number of its own. */
static uint32_t last_seq, n_asked;

static int numbered(const struct nlmsghdr *h)
{
	/* the first one is that socket's, which speaks of P */
	CHECK(n_asked == 1 || h->nlmsg_seq > last_seq);
	last_seq = h->nlmsg_seq;
	return ++n_asked == 6 ? refused.code : 0;
}

static void keep_address(struct link_copy *c, uint8_t last)
{
	uint64_t room[16];
	struct nlmsghdr *h = mnl_nlmsg_put_header(room);
	struct ifaddrmsg *ifa;

	h->nlmsg_type = RTM_NEWADDR;
	ifa = mnl_nlmsg_put_extra_header(h, sizeof(*ifa));
	ifa->ifa_family = AF_INET;
	ifa->ifa_index = c->index;
	mnl_attr_put(h, IFA_ADDRESS, 4, (uint8_t[]){10, 0, 0, last});
	link_copy_add(c, h);
}

static void taken(void)
{
	static struct podlink l;

	CHECK(FINE(rtnl_open(&l.pod, 0, &err)));
	close(0); /* a descriptor like others */
	l.copy.index = 7;
	for (uint8_t i = 1; i < 5; i++)
		keep_address(&l.copy, i);
	for (int code = 0; code >= -EPERM; code -= EPERM) {
		begin_kernel(numbered);
		kernel.noted = true;
		last_seq = n_asked = 0;
		refused.code = code;
		if (code)
			CHECK(is_error(
				      podlink_take(&l, &err), code,
				      "the Pod's interface: address: Operation "
				      "not permitted") &&
			      n_asked == 6);
		else
			CHECK(FINE(podlink_take(&l, &err)) && n_asked == 7);
		CHECK(strstr(
			kernel.said,
			"\n20 505 0200000002000000 0800080000000000 080001000a000003\n"));
		l.pod.seq = 0;
	}
	rtnl_done(&l.pod);
}

/* Those that there are, all of whose names are other ones, and a route by one
 * whose number is the bytes of the name that is looked for. */
static void list_others(const struct nlmsghdr *h)
{
	struct nlmsghdr *put;
	uint32_t index;

	if (h->nlmsg_type != RTM_GETLINK)
		return;
	for (unsigned i = 0; i < LINK_IFS_MAX; i++) {
		put = put_message(RTM_NEWLINK, h->nlmsg_seq, 16);
		((struct ifinfomsg *)NLMSG_DATA(put))->ifi_index = (int)i + 1;
		put->nlmsg_flags = NLM_F_MULTI;
	}
	memcpy(&index, LINK_AGENT_IF, sizeof(index));
	put_default(h->nlmsg_seq, index);
	put = put_message(NLMSG_DONE, h->nlmsg_seq, 4);
	put->nlmsg_flags = NLM_F_MULTI;
}

/* What was given back is looked for among so many interfaces as there is room
 * for, and not behind them. */
static void lost(void)
{
	static struct podlink l = {.netns = -1, .taken = true};

	CHECK(FINE(rtnl_open(&l.pod, 0, &err)));
	begin_kernel(says_yes);
	kernel.look = list_others;
	CHECK(is_error(podlink_return(&l, &err), -ENODEV,
		       "there is no interface eth0") &&
	      kernel.n > LINK_IFS_MAX && kernel.at == kernel.n);
	rtnl_done(&l.pod);
}

/* --- each of them refused ------------------------------------------------- */

static struct podlink wire = {.netns = -1};

static int gate_up(void)
{
	return link_gate_up(1, 1399, true, &err);
}

static int agent_up(void)
{
	return link_agent_up(true, &err);
}

static int sink_up(void)
{
	bool ipv6 = false;

	return link_sink_up(&ipv6, &err);
}

static int gate_down(void)
{
	return link_gate_down(&err);
}

static int machine_up(void)
{
	return link_machine_up(&err);
}

static int tproxy_up(void)
{
	return link_tproxy_up(&err);
}

static int take(void)
{
	wire.taken = false;
	return podlink_take(&wire, &err);
}

/* Up to where it looks for what it has given back. */
static int give_back(void)
{
	int rc;

	wire.taken = true;
	rc = podlink_return(&wire, &err);
	CHECK(wire.taken == (n_asked < 3 || refused.code));
	return wire.taken ? rc : 0;
}

static unsigned nth;

static int refuses_nth(const struct nlmsghdr *h)
{
	(void)h;
	return ++n_asked == nth ? refused.code : 0;
}

/* Whichever it is ends it: nothing is asked for behind that. */
static void each_refused(void)
{
	static const struct {
		int (*run)(void);
		unsigned n;
	} cases[] = {{gate_up, 7},   {agent_up, 9},   {sink_up, 4},
		     {gate_down, 1}, {machine_up, 2}, {tproxy_up, 3},
		     {take, 7},	     {give_back, 3}};

	all_known = true;
	CHECK(FINE(rtnl_open(&wire.pod, 0, &err)));
	for (uint8_t i = 1; i < 5; i++)
		keep_address(&wire.copy, i);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		for (nth = 1; nth <= cases[i].n + 1; nth++) {
			bool whole = nth > cases[i].n;
			int rc;

			begin_kernel(refuses_nth);
			refused.code = whole ? 0 : -EPERM;
			n_asked = 0;
			err.text[0] = '\0';
			rc = cases[i].run();
			CHECK_MSG(rc == refused.code &&
					  n_asked == (whole ? cases[i].n : nth),
				  "%zu, %u: %d after %u", i, nth, rc, n_asked);
			CHECK_MSG(whole || strstr(err.text,
						  ": Operation not permitted"),
				  "%s", err.text);
		}
	rtnl_done(&wire.pod);
	all_known = false;
}

/* Without a socket nothing is asked for. */
static void no_sockets(void)
{
	struct link_facts f;
	bool ipv6 = true;
	int before = next_fd();

	for (int i = 0; i < 2; i++) {
		int code = i ? -EADDRINUSE : -EMFILE;
		const char *why = i ? "rtnetlink socket: Address already in use"
				    : "rtnetlink socket: Too many open files";

		begin_kernel(says_yes);
		has = i ? NO_BINDING : NO_SOCKET;
		CHECK(is_error(link_facts_read(&f, &err), code, why));
		CHECK(is_error(link_await_uplink(&f, 0, &err), code, why));
		CHECK(is_error(link_sink_up(&ipv6, &err), code, why));
		CHECK(is_error(link_gate_up(1, 1399, true, &err), code, why));
		CHECK(is_error(link_gate_down(&err), code, why));
		CHECK(is_error(link_machine_up(&err), code, why));
		CHECK(is_error(link_agent_up(true, &err), code, why));
		CHECK(is_error(link_bridge_up(true, &err), code, why));
		CHECK(is_error(link_tproxy_up(&err), code, why));
		CHECK(is_error(podlink_alone(&err), code, why));
		CHECK(kernel.n_sent == 0 && next_fd() == before);
	}
	has = SOCKETS;
}

int main(void)
{
	if (!enter_room())
		return NOT_HERE;
	link_local();
	talks();
	routes();
	gone();
	questions();
	alone();
	taken();
	lost();
	each_refused();
	no_sockets();
	return check_status();
}
