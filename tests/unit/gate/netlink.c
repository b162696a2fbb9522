/*
 * Netlink, where the kernel says what it does not say at will: that it has no
 * IPv6, that something is there already, a record before an answer. What is
 * sent is looked at here, and answered here.
 */
#include "runtime/gate/packet/conntrack.h"
#include "runtime/gate/packet/flows.h"
#include "runtime/gate/packet/nflog.h"
#include "runtime/gate/packet/nfnl.h"
#include "runtime/gate/packet/nftset.h"
#include "runtime/gate/packet/rtnl.h"
#include "tests/unit/gate/plans.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/fib_rules.h>
#include <linux/neighbour.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_log.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <sys/syscall.h>

#define ANSWERS_MAX 200

static struct {
	/* of each message that wants one: 0 or a negative errno; NULL: the
	 * kernel is asked */
	int (*answer)(const struct nlmsghdr *h);
	unsigned n_sent;
	struct {
		int code; /* below 0: receiving fails so, with -code */
		size_t n;
		uint64_t room[64];
	} v[ANSWERS_MAX];
	unsigned n, at;
	bool noted; /* in said, a line for each */
	char said[8192];
} kernel;

static void begin_kernel(int (*answer)(const struct nlmsghdr *h))
{
	memset(&kernel, 0, sizeof(kernel));
	kernel.answer = answer;
}

/* A message that is read next. */
static struct nlmsghdr *put_message(uint16_t type, uint32_t seq, size_t body)
{
	struct nlmsghdr *h = (void *)kernel.v[kernel.n].room;

	h->nlmsg_type = type;
	h->nlmsg_seq = seq;
	h->nlmsg_len = (uint32_t)NLMSG_LENGTH(body);
	kernel.v[kernel.n].code = 0;
	kernel.v[kernel.n++].n = h->nlmsg_len;
	return h;
}

static void put_answer(uint32_t seq, int code)
{
	struct nlmsghdr *h =
		put_message(NLMSG_ERROR, seq, sizeof(struct nlmsgerr));
	struct nlmsgerr *e = NLMSG_DATA(h);

	e->error = code;
}

static void put_failure(int code)
{
	kernel.v[kernel.n++].code = -code;
}

static void add_bytes(const void *p, size_t n)
{
	size_t at = strlen(kernel.said);

	for (size_t i = 0; i < n; i++)
		at += (size_t)snprintf(kernel.said + at,
				       sizeof(kernel.said) - at, "%02x",
				       ((const uint8_t *)p)[i]);
	snprintf(kernel.said + at, sizeof(kernel.said) - at, " ");
}

static int note_attr(const struct nlattr *a, void *data)
{
	(void)data;
	add_bytes(a, a->nla_len);
	return MNL_CB_OK;
}

/* Type, flags, head, and what is behind that. */
static void note(const struct nlmsghdr *h)
{
	static const struct {
		uint16_t type;
		size_t head;
	} kinds[] = {
		{RTM_NEWLINK, sizeof(struct ifinfomsg)},
		{RTM_DELLINK, sizeof(struct ifinfomsg)},
		{RTM_NEWADDR, sizeof(struct ifaddrmsg)},
		{RTM_NEWROUTE, sizeof(struct rtmsg)},
		{RTM_NEWRULE, sizeof(struct fib_rule_hdr)},
		{RTM_NEWNEIGH, sizeof(struct ndmsg)},
	};
	size_t at = strlen(kernel.said);

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		if (kinds[i].type != h->nlmsg_type)
			continue;
		snprintf(kernel.said + at, sizeof(kernel.said) - at, "%u %x ",
			 h->nlmsg_type, h->nlmsg_flags);
		add_bytes(mnl_nlmsg_get_payload(h), kinds[i].head);
		(void)mnl_attr_parse(h, (unsigned)kinds[i].head, note_attr,
				     NULL);
		kernel.said[strlen(kernel.said) - 1] = '\n';
	}
}

/* These take the libraries' place in all of this program. */
ssize_t mnl_socket_sendto(const struct mnl_socket *nl, const void *p, size_t n)
{
	const struct nlmsghdr *h = p;
	int left = (int)n;

	if (kernel.noted)
		note(h);
	if (!kernel.answer)
		return send(mnl_socket_get_fd(nl), p, n, 0);
	kernel.n_sent++;
	for (; mnl_nlmsg_ok(h, left); h = mnl_nlmsg_next(h, &left))
		if (h->nlmsg_flags & NLM_F_ACK) {
			int code = kernel.answer(h);

			if (code <= 0)
				put_answer(h->nlmsg_seq, code);
		}
	return (ssize_t)n;
}

static ssize_t take_answer(void *to, size_t size)
{
	unsigned at = kernel.at++;

	if (at >= kernel.n) {
		errno = EAGAIN;
		return -1;
	}
	if (kernel.v[at].code < 0) {
		errno = -kernel.v[at].code;
		return -1;
	}
	CHECK(kernel.v[at].n <= size);
	memcpy(to, kernel.v[at].room, kernel.v[at].n);
	return (ssize_t)kernel.v[at].n;
}

ssize_t recv(int fd, void *to, size_t size, int flags)
{
	if (kernel.answer)
		return take_answer(to, size);
	return syscall(SYS_recvfrom, fd, to, size, flags, NULL, NULL);
}

ssize_t mnl_socket_recvfrom(const struct mnl_socket *nl, void *to, size_t size)
{
	return recv(mnl_socket_get_fd(nl), to, size, 0);
}

static int says_yes(const struct nlmsghdr *h)
{
	(void)h;
	return 0;
}

/* Only what the test has written down before. */
static int says_nothing(const struct nlmsghdr *h)
{
	(void)h;
	return 1;
}

static bool is_error(int rc, int code, const char *text)
{
	if (rc != code || strcmp(err.text, text) != 0)
		fprintf(stderr, "%d %s\n", rc, err.text);
	return rc == code && strcmp(err.text, text) == 0;
}

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
	put_message(RTM_NEWLINK, seq, 16)->nlmsg_flags = NLM_F_MULTI;
	put_message(RTM_NEWLINK, seq, 16)->nlmsg_flags = NLM_F_MULTI;
	put_message(NLMSG_DONE, seq, 4)->nlmsg_flags = NLM_F_MULTI;
	put_failure(EIO);
	CHECK(FINE(rtnl_dump(&rt, RTM_GETLINK, 16, count_messages, &n, &err)));
	CHECK(n == 2 && kernel.at == 3);
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

/* --- what is logged ------------------------------------------------------- */

#define RECORD (NFNL_SUBSYS_ULOG << 8 | NFULNL_MSG_PACKET)

static void log_answers(void)
{
	struct nflog l;

	begin_kernel(says_nothing);
	put_answer(1, 0);
	put_message(RECORD, 0, 4);
	put_message(RECORD, 0, 4);
	put_answer(2, 0);
	CHECK(FINE(nflog_open(&l, 77, &err)) && kernel.at == 4);
	mnl_socket_close(l.nl);
	begin_kernel(says_nothing);
	put_answer(1, 0);
	put_message(RECORD, 0, 4);
	put_answer(2, -EPERM);
	CHECK(is_error(nflog_open(&l, 77, &err), -EPERM,
		       "nflog group 77: Operation not permitted") &&
	      !l.nl && nflog_fd(&l) == -1);
	begin_kernel(says_nothing);
	put_answer(1, -EBUSY);
	CHECK(is_error(nflog_open(&l, 78, &err), -EBUSY,
		       "nflog group 78: Device or resource busy") &&
	      kernel.n_sent == 1);
	/* to another question */
	begin_kernel(says_nothing);
	put_answer(2, 0);
	CHECK(nflog_open(&l, 77, &err) == -EPROTO && kernel.n_sent == 1);
	begin_kernel(says_nothing);
	put_failure(ENOBUFS);
	CHECK(nflog_open(&l, 77, &err) == -ENOBUFS);
}

struct sent {
	const struct nfulnl_msg_config_cmd *cmd;
	const struct nfulnl_msg_config_mode *mode;
	const uint32_t *threshold;
};

static int take_sent(const struct nlattr *a, void *data)
{
	struct sent *s = data;
	const void *p = mnl_attr_get_payload(a);

	if (mnl_attr_get_type(a) == NFULA_CFG_CMD)
		s->cmd = p;
	if (mnl_attr_get_type(a) == NFULA_CFG_MODE)
		s->mode = p;
	if (mnl_attr_get_type(a) == NFULA_CFG_QTHRESH)
		s->threshold = p;
	return MNL_CB_OK;
}

/* The group is bound, and then said what is wanted of each packet. */
static int looks_at_log(const struct nlmsghdr *h)
{
	const struct nfgenmsg *g = mnl_nlmsg_get_payload(h);
	struct sent s = {0};

	CHECK(h->nlmsg_type == (NFNL_SUBSYS_ULOG << 8 | NFULNL_MSG_CONFIG) &&
	      h->nlmsg_flags == (NLM_F_REQUEST | NLM_F_ACK) &&
	      h->nlmsg_seq == kernel.n_sent);
	CHECK(g->res_id == htons(77) && g->version == NFNETLINK_V0 &&
	      g->nfgen_family == AF_UNSPEC);
	(void)mnl_attr_parse(h, sizeof(*g), take_sent, &s);
	if (kernel.n_sent == 1)
		CHECK(s.cmd && s.cmd->command == NFULNL_CFG_CMD_BIND &&
		      !s.mode);
	else
		CHECK(!s.cmd && s.mode &&
		      s.mode->copy_mode == NFULNL_COPY_PACKET &&
		      s.mode->copy_range == htonl(NFLOG_HEAD_BYTES) &&
		      s.threshold && *s.threshold == htonl(1));
	return 0;
}

static void log_questions(void)
{
	struct nflog l;

	begin_kernel(looks_at_log);
	CHECK(FINE(nflog_open(&l, 77, &err)) && kernel.n_sent == 2);
	mnl_socket_close(l.nl);
}

static void no_record(void *data, struct str prefix, const struct packet *p)
{
	unsigned *n = data;

	(void)prefix, (void)p;
	++*n;
}

/* What there was no room for is counted, and reading goes on. */
static void lost_records(void)
{
	struct nflog l;
	uint64_t lost = 9;
	unsigned n = 0;

	begin_kernel(says_yes);
	CHECK(FINE(nflog_open(&l, 77, &err)));
	begin_kernel(says_nothing);
	put_failure(ENOBUFS);
	put_message(RECORD, 0, 4);
	put_failure(ENOBUFS);
	CHECK(FINE(nflog_read(&l, no_record, &n, &lost, &err)) && lost == 2 &&
	      n == 0 && kernel.at == 4);
	begin_kernel(says_nothing);
	for (unsigned i = 0; i < NFLOG_READS_MAX + 1; i++)
		put_failure(ENOBUFS);
	CHECK(FINE(nflog_read(&l, no_record, &n, &lost, &err)) &&
	      lost == NFLOG_READS_MAX && kernel.at == NFLOG_READS_MAX);
	begin_kernel(says_nothing);
	put_failure(ENOBUFS);
	put_failure(EIO);
	CHECK(is_error(nflog_read(&l, no_record, &n, &lost, &err), -EIO,
		       "nflog: Input/output error") &&
	      lost == 1 && kernel.at == 2);
	mnl_socket_close(l.nl);
}

/* --- connection tracking -------------------------------------------------- */

static void tracking(void)
{
	begin_kernel(says_nothing);
	put_message(NFNL_SUBSYS_CTNETLINK << 8, 1, 4);
	put_answer(1, 0);
	put_failure(EIO);
	CHECK(FINE(conntrack_check(&err)) && kernel.at == 2);
	begin_kernel(says_nothing);
	put_message(NFNL_SUBSYS_CTNETLINK << 8, 1, 4);
	put_answer(1, -EPERM);
	CHECK(is_error(conntrack_check(&err), -EPERM,
		       "conntrack: Operation not permitted"));
	/* no answer at all, and one to another question */
	begin_kernel(says_nothing);
	CHECK(conntrack_check(&err) == -EAGAIN);
	begin_kernel(says_nothing);
	put_answer(2, 0);
	CHECK(conntrack_forget(&err) == -EPROTO);
}

/* --- sets ----------------------------------------------------------------- */

static struct nftset sets;

static struct nftset_elem elem(uint8_t last)
{
	return (struct nftset_elem){{ADDR_V4, {11, 0, 0, last}}, 1, 60};
}

static int add_elements(unsigned n)
{
	struct nftset_elem v[8];

	for (unsigned i = 0; i < n; i++)
		v[i] = elem((uint8_t)i);
	return nftset_add(&sets, v, n, 1, &err);
}

static void begin_sets(void)
{
	memset(&sets, 0, sizeof(sets));
	CHECK(FINE(nftset_open(&sets, &err)));
	sets.seq = 10; /* then elements are from 11 on */
	begin_kernel(says_nothing);
}

/* All of them have to be good, and the last one has to be there. */
static void acknowledged(void)
{
	static const struct {
		uint32_t seq[3];
		int code[3], rc;
	} cases[] = {
		{{11, 12, 13}, {0, 0, 0}, 0},
		{{13, 0, 0}, {0, 0, 0}, 0},
		{{11, 12, 14}, {0, 0, 0}, -EPROTO},
		{{11, 12, 9}, {0, 0, 0}, -EPROTO},
		/* what is said of others is nothing to this one */
		{{9, 14, 13}, {-EPERM, -EPERM, 0}, 0},
		{{11, 12, 13}, {0, -EPERM, 0}, -EPERM},
		{{11, 12, 13}, {-ENFILE, -EPERM, 0}, -ENFILE},
		{{11, 12, 13}, {0, 0, -EPERM}, -EPERM},
		/* of the whole */
		{{10, 12, 13}, {-EPERM, 0, 0}, -EPERM},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		int rc;

		begin_sets();
		for (size_t k = 0; k < 3; k++)
			put_answer(cases[i].seq[k], cases[i].code[k]);
		rc = add_elements(3);
		CHECK_MSG(rc == cases[i].rc && kernel.at == 4, "%zu: %d", i,
			  rc);
		CHECK(sets.n_used == (rc == 0 ? 3 : 0));
		mnl_socket_close(sets.nl);
	}
}

static void unacknowledged(void)
{
	begin_sets();
	CHECK(is_error(add_elements(1), -EPROTO, "no answer from the kernel"));
	mnl_socket_close(sets.nl);
	/* a message of another kind is none */
	begin_sets();
	put_message(NFNL_SUBSYS_NFTABLES << 8, 11, sizeof(struct nlmsgerr));
	CHECK(add_elements(1) == -EPROTO);
	mnl_socket_close(sets.nl);
	begin_sets();
	put_answer(11, 0);
	put_failure(EIO);
	CHECK(is_error(add_elements(1), -EIO,
		       "answer of the kernel: Input/output error"));
	CHECK(sets.n_used == 0);
	mnl_socket_close(sets.nl);
}

int main(void)
{
	if (!enter_room())
		return NOT_HERE;
	link_local();
	talks();
	routes();
	questions();
	log_answers();
	log_questions();
	lost_records();
	tracking();
	acknowledged();
	unacknowledged();
	return check_status();
}
