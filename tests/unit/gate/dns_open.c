/* Where the resolver listens, and whom it answers there: in a network of this
 * test's own, with the port that it has everywhere. */
#include "runtime/gate/packet/rtnl.h"

#include "tests/unit/gate/dns_rig.h"

#include <errno.h>
#include <net/if.h>
#include <sched.h>

#define GRANTS "ports 1 tcp/443\nname *.test 1 - g-0000000001\n"

static struct err err;

/* A rig without listeners of its own. */
static void begin(void)
{
	rig_open("udp", GRANTS);
	close(rig.agent);
	close(rig.g.listeners[0]);
	close(rig.g.listeners[1]);
	rig.agent = -1;
	memset(&rig.g.agent4, 0, sizeof(rig.g.agent4));
}

static int option_of(int fd, int level, int name)
{
	socklen_t n = sizeof(int);
	int value = -1;

	CHECK(getsockopt(fd, level, name, &value, &n) == 0);
	return value;
}

static unsigned count_listeners(void)
{
	unsigned n = 0;

	for (size_t i = 0; i < DNS_GATE_LISTENERS; i++)
		n += rig.g.listeners[i] >= 0;
	return n;
}

/* An agent at that address, which asks there. */
static void agent_at(const char *from, const char *to)
{
	struct sockaddr_storage sa;
	struct addr a;
	socklen_t n;

	CHECK(addr_parse(str_of(from), &a));
	n = sockaddr_put(&a, 0, &sa);
	rig.agent = socket(sa.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	CHECK(bind(rig.agent, (struct sockaddr *)&sa, n) == 0);
	CHECK(addr_parse(str_of(to), &a));
	n = sockaddr_put(&a, DNS_GATE_PORT, &sa);
	CHECK(connect(rig.agent, (struct sockaddr *)&sa, n) == 0);
}

static const char *asked_from(const char *from, const char *to)
{
	const char *said = "";

	agent_at(from, to);
	rig_send("a.other", LDNS_RR_TYPE_A, 1);
	rig_step();
	rig_step();
	if (!rig_is_silent(rig.agent))
		said = rig_hear();
	close(rig.agent);
	return said;
}

static void both_families(void)
{
	const struct dns_gate_ends v4 = {"127.0.0.1", "127.0.0.2"},
				   v6 = {"::", "::1"};
	int first[2];

	begin();
	CHECK(dns_gate_open(&rig.g, &v4, NULL, &err) == 0);
	CHECK(count_listeners() == 2 &&
	      rig_port_of(rig.g.listeners[0]) == DNS_GATE_PORT &&
	      rig_port_of(rig.g.listeners[1]) == DNS_GATE_PORT);
	for (unsigned i = 0; i < 2; i++) {
		int type = i ? SOCK_STREAM : SOCK_DGRAM;

		CHECK(option_of(rig.g.listeners[i], SOL_SOCKET, SO_TYPE) ==
		      type);
		CHECK(option_of(rig.g.listeners[i], SOL_SOCKET, SO_REUSEADDR) ==
		      1);
		CHECK(option_of(rig.g.listeners[i], SOL_SOCKET,
				SO_ACCEPTCONN) == (int)i);
	}
	SAID(asked_from("127.0.0.2", "127.0.0.1"), "NXDOMAIN");
	SAID(asked_from("127.0.0.1", "127.0.0.1"), "");
	/* it is taken */
	memcpy(first, rig.g.listeners, sizeof(first));
	CHECK(dns_gate_open(&rig.g, &v4, NULL, &err) == -EADDRINUSE &&
	      strstr(err.text, "127.0.0.1"));
	close(first[0]);
	close(first[1]);
	rig_close();
	/* beside each other, though one of them means all addresses */
	begin();
	CHECK(dns_gate_open(&rig.g, &v4, &v6, &err) == 0);
	CHECK(count_listeners() == 4);
	for (unsigned i = 2; i < 4; i++)
		CHECK(option_of(rig.g.listeners[i], IPPROTO_IPV6,
				IPV6_V6ONLY) == 1);
	SAID(asked_from("::1", "::1"), "NXDOMAIN");
	CHECK(rig.n_told == 1);
	rig.g.agent6.b[15] = 2;
	SAID(asked_from("::1", "::1"), "");
	rig_close();
}

/* Descriptor 0 is one like any other. */
static void without_input(void)
{
	const struct dns_gate_ends v4 = {"127.0.0.1", "127.0.0.2"};

	begin();
	CHECK(close(STDIN_FILENO) == 0);
	CHECK(dns_gate_open(&rig.g, &v4, NULL, &err) == 0 &&
	      rig.g.listeners[0] == STDIN_FILENO);
	SAID(asked_from("127.0.0.2", "127.0.0.1"), "NXDOMAIN");
	rig_close();
	CHECK(open("/dev/null", O_RDONLY) == STDIN_FILENO);
}

/* Beside a door there is one for HAProxy, and no agent that is known. */
static void with_a_door(void)
{
	const struct dns_gate_ends v4 = {"127.0.0.1", NULL};
	const struct addr door = {ADDR_V4, {10, 96, 0, 53}};

	begin();
	rig.g.door = &door;
	rig.g.n_door = 1;
	rig.g.proxy_port = 5353;
	CHECK(dns_gate_open(&rig.g, &v4, NULL, &err) == 0);
	CHECK(count_listeners() == 3 && rig.g.listeners[DNS_GATE_OWN] >= 0 &&
	      rig_port_of(rig.g.listeners[DNS_GATE_OWN]) == 5353);
	SAID(asked_from("127.0.0.7", "127.0.0.1"), "NXDOMAIN");
	rig_close();
}

static void refusals(void)
{
	static const struct {
		struct dns_gate_ends v4;
		int want;
	} cases[] = {
		{{"gate", "127.0.0.2"}, -EINVAL},
		{{"127.0.0.1", "agent"}, -EINVAL},
		{{"11.9.9.9", "127.0.0.2"}, -EADDRNOTAVAIL},
	};
	const struct dns_gate_ends fine4 = {"127.0.0.1", "127.0.0.2"},
				   fine6 = {"::1", "::1"},
				   no6 = {"2a0e::1", "::1"};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		begin();
		rig.g.n_door = 1;
		CHECK_MSG(dns_gate_open(&rig.g, &cases[i].v4, &fine6, &err) ==
				  cases[i].want,
			  "%zu", i);
		CHECK(count_listeners() == 0 && err.text[0]);
		rig.g.n_door = 0;
		rig_close();
	}
	begin();
	CHECK(dns_gate_open(&rig.g, &fine4, &no6, &err) == -EADDRNOTAVAIL &&
	      strstr(err.text, "2a0e::1"));
	CHECK(count_listeners() == 2);
	rig_close();
}

static int in_a_network(void)
{
	static struct rtnl rt;

	CHECK(rtnl_open(&rt, 0, &err) == 0 &&
	      rtnl_set_up(&rt, if_nametoindex("lo"), true, &err) == 0);
	rtnl_done(&rt);
	both_families();
	without_input();
	with_a_door();
	refusals();
	return check_status();
}

int main(void)
{
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0)
		return in_a_network();
	printf("no namespaces of a user's own here: not tried\n");
	return check_status();
}
