/* What is asked of netfilter: logs, flows, elements of sets; and what is done
 * about its answers. */
#include "runtime/gate/packet/conntrack.h"
#include "runtime/gate/packet/flows.h"
#include "runtime/gate/packet/nflog.h"
#include "runtime/gate/packet/nfnl.h"
#include "runtime/gate/packet/nftset.h"
#include "tests/unit/gate/answered.h"

#include <arpa/inet.h>
#include <libnftnl/set.h>
#include <malloc.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <linux/netfilter/nfnetlink_log.h>

/* --- what is logged ------------------------------------------------------- */

#define RECORD (NFNL_SUBSYS_ULOG << 8 | NFULNL_MSG_PACKET)

static void log_answers(void)
{
	int before = next_fd();
	struct nflog l;

	begin_kernel(says_nothing);
	put_answer(1, 0);
	put_message(RECORD, 0, 4);
	put_message(RECORD, 0, 4);
	put_answer(2, 0);
	CHECK(FINE(nflog_open(&l, 77, &err)) && kernel.at == 4);
	mnl_socket_close(l.nl);
	/* an empty one is none */
	begin_kernel(says_nothing);
	put_message(RECORD, 0, 4);
	put_nothing();
	put_answer(1, 0);
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
	CHECK(next_fd() == before);
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

static struct {
	unsigned n;
	char prefix[16];
	uint16_t dport;
} logged;

static void take_record(void *data, struct str prefix, const struct packet *p)
{
	(void)data;
	logged.n++;
	logged.dport = p->dport;
	snprintf(logged.prefix, sizeof(logged.prefix), "%.*s", STR_ARG(prefix));
}

/* A datagram to port 53, then a prefix of so many bytes. */
static void put_record(const char *prefix, size_t n)
{
	static const uint8_t datagram[28] = {
		[0] = 0x45, [3] = 28, [9] = 17, [23] = 53, [25] = 8};
	struct nlmsghdr *h = put_message(RECORD, 0, sizeof(struct nfgenmsg));

	mnl_attr_put(h, NFULA_PAYLOAD, sizeof(datagram), datagram);
	mnl_attr_put(h, NFULA_PREFIX, n, prefix);
	kernel.v[kernel.n - 1].n = h->nlmsg_len;
}

/* Whatever is behind a packet, it is none; a prefix has an end of its own, or
 * it is none. */
static void parts_of_records(void)
{
	struct nflog l;
	uint64_t lost = 9;

	begin_kernel(says_yes);
	CHECK(FINE(nflog_open(&l, 77, &err)));
	begin_kernel(says_nothing);
	put_record("floor:", 7);
	CHECK(FINE(nflog_read(&l, take_record, NULL, &lost, &err)) &&
	      logged.n == 1 && logged.dport == 53 &&
	      strcmp(logged.prefix, "floor:") == 0);
	begin_kernel(says_nothing);
	put_record("floor:", 6);
	CHECK(FINE(nflog_read(&l, take_record, NULL, &lost, &err)) &&
	      logged.n == 2 && logged.dport == 53 && !logged.prefix[0]);
	mnl_socket_close(l.nl);
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
	      n == 0 && kernel.at == 3);
	/* an empty one is not the last */
	begin_kernel(says_nothing);
	put_nothing();
	put_failure(ENOBUFS);
	CHECK(FINE(nflog_read(&l, no_record, &n, &lost, &err)) && lost == 1 &&
	      kernel.at == 2);
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

/* Where the kernel gives all the room that is asked for nobody asks again. */
static int n_asked_for_room, room_refused;

int setsockopt(int fd, int level, int option, const void *value, socklen_t n)
{
	if (level == SOL_SOCKET &&
	    (option == SO_RCVBUFFORCE || option == SO_RCVBUF)) {
		n_asked_for_room++;
		errno = EPERM;
		return option == SO_RCVBUFFORCE ? room_refused : 0;
	}
	return (int)syscall(SYS_setsockopt, fd, level, option, value, n);
}

static void room(void)
{
	struct mnl_socket *nl = nfnl_open(0);

	n_asked_for_room = 0;
	nfnl_widen(nl);
	CHECK(n_asked_for_room == 1);
	room_refused = -1;
	nfnl_widen(nl);
	CHECK(n_asked_for_room == 3);
	room_refused = 0;
	mnl_socket_close(nl);
}

/* --- connection tracking -------------------------------------------------- */

static unsigned n_attrs, n_status;

static int take_status(const struct nlattr *a, void *data)
{
	(void)data;
	n_attrs++;
	n_status += (mnl_attr_get_type(a) == CTA_STATUS ||
		     mnl_attr_get_type(a) == CTA_STATUS_MASK) &&
		    mnl_attr_get_u32(a) == htonl(IPS_SRC_NAT);
	return MNL_CB_OK;
}

static void look_for_status(const struct nlmsghdr *h)
{
	(void)mnl_attr_parse(h, sizeof(struct nfgenmsg), take_status, NULL);
}

/* Of whose source was changed, and not of whatever else has another bit. */
static void status_asked_for(void)
{
	begin_kernel(says_yes);
	kernel.look = look_for_status;
	CHECK(FINE(conntrack_check(&err)) && n_attrs == 0);
	CHECK(FINE(conntrack_forget(&err)) && n_attrs == 2 && n_status == 2);
}

static void tracking(void)
{
	int before = next_fd();

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
	CHECK(next_fd() == before);
	/* an empty one is none */
	begin_kernel(says_nothing);
	put_nothing();
	put_answer(1, -EPERM);
	CHECK(conntrack_forget(&err) == -EPERM);
}

static void no_flow(void *data, const struct flow *f)
{
	(void)data, (void)f;
	CHECK(false);
}

static unsigned n_marks;

static int take_mark(const struct nlattr *a, void *data)
{
	(void)data;
	n_marks += (mnl_attr_get_type(a) == CTA_MARK &&
		    mnl_attr_get_u32(a) == htonl(GATE_MARK_FLOW)) ||
		   (mnl_attr_get_type(a) == CTA_MARK_MASK &&
		    mnl_attr_get_u32(a) == UINT32_MAX);
	return MNL_CB_OK;
}

/* Only those that are marked are asked for. */
static void asks_for_flows(const struct nlmsghdr *h)
{
	CHECK(h->nlmsg_type ==
		      (NFNL_SUBSYS_CTNETLINK << 8 | IPCTNL_MSG_CT_GET) &&
	      h->nlmsg_flags == (NLM_F_REQUEST | NLM_F_DUMP));
	(void)mnl_attr_parse(h, sizeof(struct nfgenmsg), take_mark, NULL);
}

static void put_counter(struct nlmsghdr *h, uint16_t which)
{
	struct nlattr *nest = mnl_attr_nest_start(h, which);

	mnl_attr_put_u64(h, CTA_COUNTERS_PACKETS, 1);
	mnl_attr_put_u64(h, CTA_COUNTERS_BYTES, 1);
	mnl_attr_nest_end(h, nest);
}

/* A marked one, without counters it is none that anybody could tell of. */
static void put_flow(bool counted)
{
	static const uint8_t src[4] = {192, 0, 0, 2}, dst[4] = {11, 0, 0, 1};
	struct nlmsghdr *h = put_message(NFNL_SUBSYS_CTNETLINK << 8, 1,
					 sizeof(struct nfgenmsg));
	struct nlattr *tuple, *nest;

	h->nlmsg_flags = NLM_F_MULTI;
	tuple = mnl_attr_nest_start(h, CTA_TUPLE_ORIG);
	nest = mnl_attr_nest_start(h, CTA_TUPLE_IP);
	mnl_attr_put(h, CTA_IP_V4_SRC, 4, src);
	mnl_attr_put(h, CTA_IP_V4_DST, 4, dst);
	mnl_attr_nest_end(h, nest);
	nest = mnl_attr_nest_start(h, CTA_TUPLE_PROTO);
	mnl_attr_put_u8(h, CTA_PROTO_NUM, IPPROTO_TCP);
	mnl_attr_put_u16(h, CTA_PROTO_SRC_PORT, htons(40000));
	mnl_attr_put_u16(h, CTA_PROTO_DST_PORT, htons(443));
	mnl_attr_nest_end(h, nest);
	mnl_attr_nest_end(h, tuple);
	if (counted) {
		put_counter(h, CTA_COUNTERS_ORIG);
		put_counter(h, CTA_COUNTERS_REPLY);
	}
	mnl_attr_put_u32(h, CTA_MARK, htonl(GATE_MARK_FLOW));
	kernel.v[kernel.n - 1].n = h->nlmsg_len;
}

static void count_flow(void *data, const struct flow *f)
{
	unsigned *n = data;

	*n += f->packet.dport == 443 && f->mark == GATE_MARK_FLOW;
}

/* One that cannot be read is not the one before it once more; an empty message
 * is none, and not the last. */
static void broken_flows(struct flows *f)
{
	unsigned n = 0;

	begin_kernel(says_nothing);
	put_flow(true);
	put_flow(false);
	put_nothing();
	put_flow(false);
	put_message(NLMSG_DONE, 1, 4)->nlmsg_flags = NLM_F_MULTI;
	CHECK(FINE(flows_rest(f, count_flow, &n, &err)) && n == 1 &&
	      kernel.at == 5);
}

static void rest_of_flows(void)
{
	struct flows f;

	CHECK(FINE(flows_open(&f, &err)));
	broken_flows(&f);
	begin_kernel(says_nothing);
	kernel.look = asks_for_flows;
	put_message(NFNL_SUBSYS_CTNETLINK << 8, 1, 4)->nlmsg_flags =
		NLM_F_MULTI;
	put_message(NLMSG_DONE, 1, 4)->nlmsg_flags = NLM_F_MULTI;
	put_failure(EIO);
	CHECK(FINE(flows_rest(&f, no_flow, NULL, &err)) && kernel.at == 2 &&
	      n_marks == 2);
	begin_kernel(says_nothing);
	put_message(NFNL_SUBSYS_CTNETLINK << 8, 1, 4)->nlmsg_flags =
		NLM_F_MULTI;
	put_failure(EIO);
	CHECK(is_error(flows_rest(&f, no_flow, NULL, &err), -EIO,
		       "the flows that are left: Input/output error"));
	begin_kernel(says_nothing);
	put_answer(1, -EPERM);
	CHECK(flows_rest(&f, no_flow, NULL, &err) == -EPERM);
	mnl_socket_close(f.asked);
	mnl_socket_close(f.events);
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
		CHECK_MSG(rc == cases[i].rc && kernel.at == 3, "%zu: %d", i,
			  rc);
		CHECK(sets.n_used == (rc == 0 ? 3 : 0));
		mnl_socket_close(sets.nl);
	}
}

static void unacknowledged(void)
{
	/* an empty one is none, and not the last */
	begin_sets();
	put_nothing();
	put_answer(11, 0);
	CHECK(FINE(add_elements(1)));
	mnl_socket_close(sets.nl);
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

/* Of a batch: which messages there are, and how long each of them is. */
static char batch[1024];

static void note_batch(const struct nlmsghdr *h)
{
	size_t n = strlen(batch);

	snprintf(batch + n, sizeof(batch) - n, "%u:%x:%u:%u ",
		 h->nlmsg_type & 0xff, h->nlmsg_flags, h->nlmsg_len,
		 h->nlmsg_seq);
}

/* By numbers, from 0: what the kernel says to each element of each batch. */
static const int *said;
static unsigned n_said;

static int says_in_turn(const struct nlmsghdr *h)
{
	(void)h;
	return said[n_said++];
}

static void begin_saying(const int *codes)
{
	begin_kernel(says_in_turn);
	kernel.look = note_batch;
	batch[0] = '\0';
	said = codes;
	n_said = 0;
}

static int renew(unsigned n, uint32_t ttl_s)
{
	struct nftset_elem v[8];

	for (unsigned i = 0; i < n; i++) {
		v[i] = elem((uint8_t)i);
		v[i].ttl_s = ttl_s;
	}
	return nftset_add(&sets, v, n, 1, &err);
}

#define GONE (-ENOENT)

/* What has run out of the set meanwhile is put there anew, and only that. */
static void renewed(void)
{
	static const int yes[16] = {0},
			 gone[] = {GONE, 0, 0, 0, GONE, 0, 0, 0, 0, 0},
			 fails[] = {GONE, 0, 0, 0, -EPERM, 0},
			 never[] = {GONE, 0, GONE, 0, GONE, 0},
			 fresh[] = {GONE, GONE, 0};

	begin_sets();
	begin_saying(yes);
	CHECK(FINE(renew(2, 60)) && sets.n_used == 2);
	CHECK(strcmp(batch, "16:1:20:10 12:405:80:11 12:405:80:12 "
			    "17:1:20:13 ") == 0);
	begin_saying(yes);
	CHECK(FINE(renew(2, 60)) && kernel.n_sent == 0);
	begin_saying(yes);
	CHECK(FINE(renew(1, 61)) && kernel.n_sent == 1);
	CHECK(strcmp(batch, "16:1:20:14 14:5:68:15 12:405:80:16 "
			    "17:1:20:17 ") == 0);
	/* the first has gone, the second has not */
	begin_saying(gone);
	CHECK(renew(2, 70) == 0 && kernel.n_sent == 4);
	begin_saying(yes);
	CHECK(FINE(renew(2, 70)) && kernel.n_sent == 0);
	begin_saying(fails);
	CHECK(renew(2, 80) == -EPERM && kernel.n_sent == 2 &&
	      strcmp(err.text, "set element: Operation not permitted") == 0);
	begin_saying(never);
	CHECK(renew(1, 80) == GONE && kernel.n_sent == 3);
	/* one that was never there has no set */
	mnl_socket_close(sets.nl);
	begin_sets();
	begin_saying(fresh);
	CHECK(renew(1, 80) == GONE && kernel.n_sent == 2);
	mnl_socket_close(sets.nl);
}

/* Of one address each class is another element, wherever it is kept. */
static void classes(void)
{
	const struct addr a = {ADDR_V4, {11, 0, 0, 1}};
	const uint16_t n = NFTSET_MIRROR / 4 * 3 - 1;
	uint32_t found = 0;

	begin_sets();
	nftset_next(&sets);
	for (uint16_t i = 1; i <= n; i++)
		found += !nftset_note(&sets, &a, i, 100000);
	CHECK(sets.n_next == n && found == 0);
	for (size_t i = 0; i < NFTSET_MIRROR; i++)
		found += sets.next[i].class != 0;
	CHECK(found == n);
	nftset_next(&sets);
	CHECK(nftset_note(&sets, &a, 1, 100000));
	/* the longest time is the one that holds */
	CHECK(nftset_note(&sets, &a, 1, 50));
	nftset_take(&sets);
	/* which it is told is there is not asked for */
	begin_kernel(says_nothing);
	CHECK(nftset_add(&sets,
			 &(struct nftset_elem){{ADDR_V4, {11, 0, 0, 1}}, 1, 60},
			 1, 1, &err) == 0 &&
	      kernel.n_sent == 0 && sets.n_used == 1);
	mnl_socket_close(sets.nl);
}

/* Each kind of class has sets of its own. */
static void names_of_sets(void)
{
	static const struct {
		uint16_t class;
		const char *name;
	} cases[] = {
		{1, "host4_1 "},     {256, "host4_256 "}, {257, "http4_1 "},
		{512, "http4_256 "}, {513, "guard4_1 "},  {769, "quic4_1 "},
		{1025, "ask4_1 "},   {1280, "ask4_256 "}, {1281, "past4_1 "},
	};
	const struct addr a = {ADDR_V4, {11, 0, 0, 1}}, b = {ADDR_V6, {0x2a}};
	struct arena *arena = arena_new();
	struct buf text;

	begin_sets();
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		nftset_next(&sets);
		CHECK(nftset_note(&sets, &a, cases[i].class, 100));
		buf_init(&text, arena);
		nftset_text(&sets, 1, &text);
		CHECK_MSG(strstr(arena_cstr(arena, buf_str(&text)),
				 cases[i].name),
			  "%s", cases[i].name);
	}
	nftset_next(&sets);
	CHECK(nftset_note(&sets, &b, 257, 100));
	buf_init(&text, arena);
	nftset_text(&sets, 1, &text);
	CHECK(str_is(buf_str(&text), "add element inet membrane http6_1 { "
				     "2a00:: timeout 99ms }\n"));
	arena_free(arena);
	mnl_socket_close(sets.nl);
}

/* Of what was asked for nothing is left, but for malloc(3)'s own store. */
static void nothing_left(void)
{
	static const int yes[4] = {0};
	size_t before = 0;

	begin_sets();
	for (uint32_t i = 0; i < 110; i++) {
		if (i == 10)
			before = mallinfo2().uordblks;
		begin_saying(yes);
		CHECK(FINE(renew(1, 60 + i)));
	}
	CHECK(mallinfo2().uordblks < before + 4096);
	mnl_socket_close(sets.nl);
}

/* So many are kept in mind, and not one more; more than a batch holds. */
static void ends(void)
{
	static const int yes[200] = {0}, refuses_first[200] = {-EPERM};
	static struct nftset_elem v[130];
	const uint32_t most = NFTSET_MIRROR / 4 * 3;

	begin_sets();
	begin_saying(yes);
	sets.n_used = most - 1; /* a sweep would count them anew */
	CHECK(FINE(renew(1, 60)) && sets.n_used == most);
	mnl_socket_close(sets.nl);
	for (unsigned i = 0; i < ARRAY_LEN(v); i++)
		v[i] = elem((uint8_t)i);
	for (unsigned n = 62; n < ARRAY_LEN(v); n += 1 + (n == 65) * 60) {
		begin_sets();
		begin_saying(yes);
		kernel.look = NULL;
		CHECK(FINE(nftset_add(&sets, v, n, 1, &err)));
		CHECK_MSG(sets.n_used == n && n_said == n &&
				  kernel.n_sent == (n + 62) / 63,
			  "%u: %u", n, kernel.n_sent);
		mnl_socket_close(sets.nl);
	}
	/* what goes wrong in the first batch is the end of it */
	begin_sets();
	begin_saying(refuses_first);
	kernel.look = NULL;
	CHECK(nftset_add(&sets, v, ARRAY_LEN(v), 1, &err) == -EPERM &&
	      kernel.n_sent == 1 && sets.n_used == 0);
	mnl_socket_close(sets.nl);
	nothing_left();
}

/* Of libnftnl: which of its calls finds no memory, after so many that do. */
static const char *without;
static unsigned after;

static bool lacks(const char *call)
{
	return without && strcmp(without, call) == 0 && after-- == 0;
}

struct nftnl_set *nftnl_set_alloc(void)
{
	static struct nftnl_set *(*real)(void);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "nftnl_set_alloc");
	return lacks("set") ? NULL : real();
}

struct nftnl_set_elem *nftnl_set_elem_alloc(void)
{
	static struct nftnl_set_elem *(*real)(void);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "nftnl_set_elem_alloc");
	return lacks("element") ? NULL : real();
}

/* The first time, or when it is renewed: in a batch, by itself, and anew. */
static void no_memory(void)
{
	static const char *const calls[] = {"set", "element"};
	static const int yes[4] = {0}, gone[] = {GONE, 0, GONE, 0, 0};

	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		size_t before;

		begin_sets();
		begin_saying(yes);
		without = calls[i];
		after = 0;
		CHECK(is_error(renew(1, 60), -ENOMEM, "out of memory"));
		before = mallinfo2().uordblks;
		for (unsigned k = 0; k < 100; k++) {
			after = 0;
			CHECK(renew(1, 60) == -ENOMEM);
		}
		CHECK(mallinfo2().uordblks < before + 4096);
		without = NULL;
		CHECK(FINE(renew(1, 60)) && kernel.n_sent == 1);
		without = calls[i];
		for (unsigned n = 0; n < 5; n++) {
			begin_saying(gone);
			after = n;
			CHECK(renew(1, 70) == -ENOMEM &&
			      strcmp(err.text, "out of memory") == 0 &&
			      kernel.n_sent == n / 2);
		}
		without = NULL;
		mnl_socket_close(sets.nl);
	}
}

/* Where no socket is to be had that is said, and none is left open. */
static void no_sockets(void)
{
	static const struct {
		int has, code;
		const char *why;
	} cases[] = {{NO_SOCKET, -EMFILE, "Too many open files"},
		     {NO_BINDING, -EADDRINUSE, "Address already in use"}};
	int before = next_fd();
	struct nflog l;
	struct flows f;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		int code = cases[i].code;

		has = cases[i].has;
		CHECK(nflog_open(&l, 77, &err) == code && !l.nl &&
		      strstr(err.text, cases[i].why));
		CHECK(flows_open(&f, &err) == code && !f.asked &&
		      flows_fd(&f) == -1 && strstr(err.text, cases[i].why));
		CHECK(conntrack_check(&err) == code &&
		      strstr(err.text, cases[i].why));
		CHECK(next_fd() == before);
		CHECK(nftset_open(&sets, &err) == code &&
		      strstr(err.text, cases[i].why));
		if (sets.nl)
			mnl_socket_close(sets.nl);
		CHECK(next_fd() == before);
	}
	has = SOCKETS;
}

int main(void)
{
	if (!enter_room())
		return NOT_HERE;
	log_answers();
	log_questions();
	parts_of_records();
	lost_records();
	room();
	status_asked_for();
	tracking();
	rest_of_flows();
	acknowledged();
	unacknowledged();
	renewed();
	classes();
	names_of_sets();
	ends();
	no_memory();
	no_sockets();
	return check_status();
}
