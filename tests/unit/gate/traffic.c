/*
 * What the packet filter says of traffic: what it logs, and how much went
 * through which flows. Datagrams over loopback, in networks of the test's own.
 */
#include "runtime/gate/packet/conntrack.h"
#include "runtime/gate/packet/flows.h"
#include "runtime/gate/packet/nflog.h"
#include "runtime/gate/packet/nfnl.h"
#include "runtime/gate/packet/ruleset.h"
#include "tests/unit/gate/plans.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <netinet/in.h>

#define FROM	7000
#define REFUSED 7001
#define GRANTED 7002
#define PLAIN	7003 /* a flow without a mark */
#define MARKED	7004
#define MOVED	7005 /* marked, and from another address than it says */
#define OTHER	7006 /* with another mark */

static const char rules[] =
	"table inet membrane {\n"
	"	chain output {\n"
	"		type filter hook output priority filter; policy accept;\n"
	"		udp dport 7001 log prefix \"membrane:floor:\" group 77\n"
	"		udp dport 7002 log prefix \"membrane:allow:\" group 78\n"
	"		udp dport { 7004, 7005 } ct bytes > 0 ct mark set 1\n"
	"		udp dport 7006 ct mark set 2\n"
	"	}\n"
	"\n"
	"	chain postrouting {\n"
	"		type nat hook postrouting priority srcnat; policy accept;\n"
	"		udp dport 7005 snat ip to 127.0.0.9\n"
	"	}\n"
	"}\n";

static bool begin_network(void)
{
	new_network(false);
	if (FINE(ruleset_load(STR(rules), &err)))
		return true;
	/* kernels differ in what of nf_tables they have */
	printf("no such rules here: %s\n", err.text);
	return false;
}

/* A datagram of so many bytes, from FROM. */
static void say_to(uint16_t port, size_t n)
{
	static const char bytes[512];
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons(FROM),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	CHECK(bind(fd, (struct sockaddr *)&to, sizeof(to)) == 0);
	to.sin_port = htons(port);
	CHECK(sendto(fd, bytes, n, 0, (struct sockaddr *)&to, sizeof(to)) ==
	      (ssize_t)n);
	close(fd);
}

static bool is_waiting(int fd)
{
	struct pollfd p = {fd, POLLIN, 0};

	return poll(&p, 1, 0) == 1;
}

/* What a queue of this size is where it may be had. */
static int widest(int fd)
{
	int size = 1 << 20;
	socklen_t n = sizeof(size);
	int other =
		socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER);

	if (fd >= 0) {
		CHECK(getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, &n) == 0);
	} else {
		if (setsockopt(other, SOL_SOCKET, SO_RCVBUFFORCE, &size, n) < 0)
			(void)setsockopt(other, SOL_SOCKET, SO_RCVBUF, &size,
					 n);
		CHECK(getsockopt(other, SOL_SOCKET, SO_RCVBUF, &size, &n) == 0);
	}
	close(other);
	return size;
}

/* --- what is logged ------------------------------------------------------- */

static struct {
	unsigned n;
	struct packet last;
	char prefix[32];
} logged;

static void take_log(void *data, struct str prefix, const struct packet *p)
{
	CHECK(data == &logged);
	logged.n++;
	logged.last = *p;
	snprintf(logged.prefix, sizeof(logged.prefix), "%.*s", STR_ARG(prefix));
}

static unsigned read_log(struct nflog *l, uint64_t want_lost)
{
	uint64_t lost = 99;

	logged.n = 0;
	CHECK(FINE(nflog_read(l, take_log, &logged, &lost, &err)));
	CHECK_MSG(lost == want_lost, "%u", (unsigned)lost);
	return logged.n;
}

static bool is_logged(uint16_t port, const char *prefix)
{
	const struct packet *p = &logged.last;
	char text[ADDR_TEXT_MAX];

	return p->has_port && p->proto == IPPROTO_UDP && p->sport == FROM &&
	       p->dport == port &&
	       strcmp(addr_text(&p->dst, text), "127.0.0.1") == 0 &&
	       strcmp(logged.prefix, prefix) == 0;
}

/* Two groups, each with its own; a record comes at once. */
static void groups(void)
{
	struct nflog refused, granted, twice;

	CHECK(FINE(nflog_open(&refused, GATE_LOG_REFUSED, &err)) &&
	      FINE(nflog_open(&granted, GATE_LOG_GRANTED, &err)));
	CHECK(widest(nflog_fd(&refused)) == widest(-1));
	CHECK(read_log(&refused, 0) == 0);
	say_to(REFUSED, 1);
	CHECK(is_waiting(nflog_fd(&refused)) &&
	      !is_waiting(nflog_fd(&granted)));
	CHECK(read_log(&refused, 0) == 1 && read_log(&granted, 0) == 0);
	CHECK(is_logged(REFUSED, "membrane:floor:"));
	say_to(GRANTED, 400);
	CHECK(read_log(&refused, 0) == 0 && read_log(&granted, 0) == 1);
	CHECK(is_logged(GRANTED, "membrane:allow:"));
	/* a group has one reader */
	CHECK(nflog_open(&twice, GATE_LOG_GRANTED, &err) == -EPERM &&
	      strstr(err.text, "nflog group 78: ") && nflog_fd(&twice) == -1);
	mnl_socket_close(granted.nl);
	CHECK(FINE(nflog_open(&twice, GATE_LOG_GRANTED, &err)));
	mnl_socket_close(twice.nl);
	mnl_socket_close(refused.nl);
}

/* So many at once, and the queue has an end, which is said. */
static void many_logged(void)
{
	struct nflog l;
	int small = 1;

	CHECK(FINE(nflog_open(&l, GATE_LOG_REFUSED, &err)));
	for (unsigned i = 0; i < NFLOG_READS_MAX + 3; i++)
		say_to(REFUSED, 1);
	CHECK(read_log(&l, 0) == NFLOG_READS_MAX && read_log(&l, 0) == 3);
	CHECK(setsockopt(nflog_fd(&l), SOL_SOCKET, SO_RCVBUF, &small,
			 sizeof(small)) == 0);
	for (unsigned i = 0; i < 100; i++)
		say_to(REFUSED, 1);
	CHECK(read_log(&l, 1) > 0 && logged.n < 100);
	CHECK(read_log(&l, 0) == 0);
	mnl_socket_close(l.nl);
}

/* A socket that is gone is an error. */
static void unread(void)
{
	struct nflog l;
	struct flows f;
	uint64_t lost;

	CHECK(FINE(nflog_open(&l, GATE_LOG_REFUSED, &err)));
	close(nflog_fd(&l));
	CHECK(nflog_read(&l, take_log, &logged, &lost, &err) == -EBADF &&
	      strcmp(err.text, "nflog: Bad file descriptor") == 0 && lost == 0);
	CHECK(FINE(flows_open(&f, &err)));
	close(flows_fd(&f));
	CHECK(flows_read(&f, NULL, NULL, &err) == -EBADF &&
	      strcmp(err.text, "flows: Bad file descriptor") == 0);
	close(mnl_socket_get_fd(f.asked));
	CHECK(flows_rest(&f, NULL, NULL, &err) == -EBADF &&
	      strcmp(err.text, "asking for flows: Bad file descriptor") == 0);
	mnl_socket_close(f.asked);
	mnl_socket_close(f.events);
	mnl_socket_close(l.nl);
}

/* --- flows ---------------------------------------------------------------- */

static struct {
	unsigned n;
	uint32_t ports; /* a bit for each, from FROM */
	struct flow last;
} told;

static void take_flow(void *data, const struct flow *f)
{
	CHECK(data == &told);
	told.n++;
	told.ports |= 1u << (f->packet.dport - FROM);
	told.last = *f;
}

static uint32_t forgotten(struct flows *f)
{
	memset(&told, 0, sizeof(told));
	CHECK(FINE(flows_read(f, take_flow, &told, &err)));
	return told.ports;
}

static uint32_t left_over(struct flows *f)
{
	memset(&told, 0, sizeof(told));
	CHECK(FINE(flows_rest(f, take_flow, &told, &err)));
	return told.ports;
}

#define BIT(port) (1u << ((port)-FROM))

/* All that there are, whatever their marks. */
static void forget_all(void)
{
	struct mnl_socket *nl = nfnl_open(0);
	uint64_t room[64];
	struct nlmsghdr *h = nfnl_begin(room, NFNL_SUBSYS_CTNETLINK,
					IPCTNL_MSG_CT_DELETE, NLM_F_ACK, 1);

	CHECK(mnl_socket_sendto(nl, h, h->nlmsg_len) > 0);
	CHECK(mnl_socket_recvfrom(nl, room, sizeof(room)) > 0);
	mnl_socket_close(nl);
}

static void close_flows(struct flows *f)
{
	mnl_socket_close(f->asked);
	mnl_socket_close(f->events);
}

static void flows_of_each(void)
{
	int on = 0;
	socklen_t n = sizeof(on);
	struct flows f;

	CHECK(FINE(flows_open(&f, &err)));
	CHECK(widest(flows_fd(&f)) == widest(-1));
	CHECK(getsockopt(flows_fd(&f), SOL_NETLINK, NETLINK_BROADCAST_ERROR,
			 &on, &n) == 0 &&
	      on);
	CHECK(left_over(&f) == 0 && forgotten(&f) == 0);
	for (uint16_t port = PLAIN; port <= OTHER; port++)
		say_to(port, 100);
	CHECK(left_over(&f) == (BIT(MARKED) | BIT(MOVED)) && told.n == 2);
	CHECK(!is_waiting(flows_fd(&f)));
	/* those whose source was changed, and no others */
	CHECK(FINE(conntrack_check(&err)));
	CHECK(left_over(&f) == (BIT(MARKED) | BIT(MOVED)));
	CHECK(FINE(conntrack_forget(&err)));
	CHECK(is_waiting(flows_fd(&f)));
	CHECK(forgotten(&f) == BIT(MOVED) && told.n == 1);
	CHECK(told.last.sent.packets == 1 && told.last.sent.bytes == 128 &&
	      told.last.received.packets == 0 &&
	      told.last.packet.sport == FROM);
	CHECK(left_over(&f) == BIT(MARKED) && told.n == 1);
	forget_all();
	CHECK(forgotten(&f) == BIT(MARKED) && left_over(&f) == 0);
	close_flows(&f);
}

/* Nobody is waked for a flow without a mark; for another mark in vain. */
static void waked(void)
{
	struct flows f;

	CHECK(FINE(flows_open(&f, &err)));
	say_to(PLAIN, 1);
	forget_all();
	CHECK(!is_waiting(flows_fd(&f)));
	say_to(OTHER, 1);
	forget_all();
	CHECK(is_waiting(flows_fd(&f)) && forgotten(&f) == 0);
	close_flows(&f);
}

/* So many at once; more than one message has when they are asked for. */
static void many_flows(void)
{
	struct flows f;

	CHECK(FINE(flows_open(&f, &err)));
	for (unsigned i = 0; i < FLOWS_READS_MAX + 2; i++) {
		say_to(MARKED, 1);
		forget_all();
	}
	CHECK(forgotten(&f) == BIT(MARKED) && told.n == FLOWS_READS_MAX);
	CHECK(forgotten(&f) == BIT(MARKED) && told.n == 2);
	close_flows(&f);
}

int main(void)
{
	if (!enter_room())
		return NOT_HERE;
	close(0); /* a descriptor like others */
	CHECK(!flows_counted());
	if (!begin_network())
		return NOT_HERE;
	CHECK(flows_counted());
	groups();
	many_logged();
	unread();
	flows_of_each();
	waked();
	many_flows();
	return check_status();
}
