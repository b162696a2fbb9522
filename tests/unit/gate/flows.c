/* Messages of connection tracking: one as the kernel sends it, and broken. */
#include "compiler/plan/gate.h"
#include "runtime/gate/wire/flow_msg.h"

#include "tests/check.h"

#include <arpa/inet.h>
#include <endian.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <stdlib.h>
#include <string.h>

static void put_tuple(struct nlmsghdr *h, uint16_t which, bool v6,
		      uint8_t proto)
{
	static const uint8_t src[16] = {192, 0, 0, 2, [15] = 7},
			     dst[16] = {11, 0, 5, 1, [15] = 8};
	struct nlattr *tuple = mnl_attr_nest_start(h, which);
	struct nlattr *ip = mnl_attr_nest_start(h, CTA_TUPLE_IP);
	struct nlattr *of;

	mnl_attr_put(h, v6 ? CTA_IP_V6_SRC : CTA_IP_V4_SRC, v6 ? 16 : 4, src);
	mnl_attr_put(h, v6 ? CTA_IP_V6_DST : CTA_IP_V4_DST, v6 ? 16 : 4, dst);
	mnl_attr_nest_end(h, ip);
	of = mnl_attr_nest_start(h, CTA_TUPLE_PROTO);
	mnl_attr_put_u8(h, CTA_PROTO_NUM, proto);
	mnl_attr_put_u16(h, CTA_PROTO_SRC_PORT, htons(40000));
	mnl_attr_put_u16(h, CTA_PROTO_DST_PORT, htons(443));
	mnl_attr_nest_end(h, of);
	mnl_attr_nest_end(h, tuple);
}

static void put_counter(struct nlmsghdr *h, uint16_t which, uint64_t packets,
			uint64_t bytes)
{
	struct nlattr *nest = mnl_attr_nest_start(h, which);

	mnl_attr_put_u64(h, CTA_COUNTERS_PACKETS, htobe64(packets));
	mnl_attr_put_u64(h, CTA_COUNTERS_BYTES, htobe64(bytes));
	mnl_attr_nest_end(h, nest);
}

struct shape {
	bool v6, counted, marked;
	uint8_t proto;
	uint16_t subsystem;
};

static struct nlmsghdr *message(void *room, const struct shape *s)
{
	struct nlmsghdr *h = mnl_nlmsg_put_header(room);

	h->nlmsg_type = (uint16_t)(s->subsystem << 8 | IPCTNL_MSG_CT_DELETE);
	mnl_nlmsg_put_extra_header(h, sizeof(struct nfgenmsg));
	put_tuple(h, CTA_TUPLE_ORIG, s->v6, s->proto);
	put_tuple(h, CTA_TUPLE_REPLY, s->v6, s->proto);
	if (s->counted) {
		put_counter(h, CTA_COUNTERS_ORIG, 3, UINT64_C(5000000000));
		put_counter(h, CTA_COUNTERS_REPLY, 4, 160);
	}
	if (s->marked)
		mnl_attr_put_u32(h, CTA_MARK, htonl(GATE_MARK_FLOW));
	return h;
}

static bool parses(const struct shape *s, struct flow *out)
{
	uint64_t room[128];

	return flow_msg_parse(message(room, s), out);
}

static void whole(void)
{
	struct shape s = {false, true, true, IPPROTO_TCP,
			  NFNL_SUBSYS_CTNETLINK};
	char text[ADDR_TEXT_MAX];
	struct flow f;

	CHECK(parses(&s, &f) && f.mark == GATE_MARK_FLOW);
	CHECK(f.packet.proto == IPPROTO_TCP && f.packet.has_port &&
	      f.packet.sport == 40000 && f.packet.dport == 443);
	CHECK(strcmp(addr_text(&f.packet.dst, text), "11.0.5.1") == 0);
	CHECK(strcmp(addr_text(&f.packet.src, text), "192.0.0.2") == 0);
	for (size_t i = 4; i < sizeof(f.packet.dst.b); i++)
		CHECK(!f.packet.dst.b[i] && !f.packet.src.b[i]);
	CHECK(f.sent.packets == 3 && f.sent.bytes == UINT64_C(5000000000));
	CHECK(f.received.packets == 4 && f.received.bytes == 160);
	s.marked = false;
	s.v6 = true;
	s.proto = IPPROTO_UDP;
	CHECK(parses(&s, &f) && f.mark == 0 && f.packet.dst.family == ADDR_V6);
	CHECK(f.packet.src.b[15] == 7 && f.packet.dst.b[15] == 8);
	s.counted = false;
	CHECK(!parses(&s, &f));
	s.counted = true;
	s.proto = IPPROTO_ICMP;
	CHECK(!parses(&s, &f));
	s.proto = IPPROTO_TCP;
	s.subsystem = NFNL_SUBSYS_ULOG;
	CHECK(!parses(&s, &f));
}

/* In a block of its own size, so that the sanitizers see what is read; the
 * kernel pads to four bytes, and libmnl reads so far. */
static void broken(void)
{
	const struct shape s = {false, true, true, IPPROTO_TCP,
				NFNL_SUBSYS_CTNETLINK};
	uint64_t room[128];
	uint32_t n = message(room, &s)->nlmsg_len;
	unsigned taken = 0;

	for (uint32_t cut = sizeof(struct nlmsghdr); cut < n; cut++) {
		struct nlmsghdr *h = calloc(1, MNL_ALIGN(cut));
		struct flow f;

		memcpy(h, room, cut);
		h->nlmsg_len = cut;
		taken += flow_msg_parse(h, &f);
		free(h);
	}
	/* Without its mark, which comes last, it is whole. */
	CHECK(taken && taken < 12);
	for (uint32_t at = sizeof(struct nlmsghdr); at < n; at++) {
		struct nlmsghdr *h = malloc(n);
		struct flow f;

		memcpy(h, room, n);
		((uint8_t *)h)[at] ^= 0xff;
		(void)flow_msg_parse(h, &f);
		free(h);
	}
}

/* What a message may lack, or have of another size. */
enum missing {
	NOTHING,
	TUPLE, /* that of the first packet */
	IP,
	PROTO,
	NUMBER,
	SOURCE,
	DESTINATION,
	SOURCE_PORT,
	DESTINATION_PORT,
	SENT,
	RECEIVED,
	SENT_PACKETS,
	SENT_BYTES,
	MISSINGS
};

/* One attribute with that value; of another size, or not at all, where it is
 * what is missing. */
static void put_part(struct nlmsghdr *h, uint16_t type, const void *value,
		     size_t n, bool missing, bool smaller)
{
	if (!missing)
		mnl_attr_put(h, type, n, value);
	else if (smaller)
		mnl_attr_put(h, type, n - 1, value);
}

static void put_original(struct nlmsghdr *h, enum missing m, bool smaller)
{
	static const uint8_t src[4] = {192, 0, 0, 2}, dst[4] = {11, 0, 5, 1};
	const uint8_t proto = IPPROTO_TCP;
	const uint16_t sport = htons(40000), dport = htons(443);
	struct nlattr *tuple = mnl_attr_nest_start(h, CTA_TUPLE_ORIG), *nest;

	if (m != IP) {
		nest = mnl_attr_nest_start(h, CTA_TUPLE_IP);
		put_part(h, CTA_IP_V4_SRC, src, 4, m == SOURCE, smaller);
		put_part(h, CTA_IP_V4_DST, dst, 4, m == DESTINATION, smaller);
		mnl_attr_nest_end(h, nest);
	}
	if (m != PROTO) {
		nest = mnl_attr_nest_start(h, CTA_TUPLE_PROTO);
		put_part(h, CTA_PROTO_NUM, &proto, 1, m == NUMBER, smaller);
		put_part(h, CTA_PROTO_SRC_PORT, &sport, 2, m == SOURCE_PORT,
			 smaller);
		put_part(h, CTA_PROTO_DST_PORT, &dport, 2,
			 m == DESTINATION_PORT, smaller);
		mnl_attr_nest_end(h, nest);
	}
	mnl_attr_nest_end(h, tuple);
}

static bool parses_without(enum missing m, bool smaller)
{
	uint64_t room[128];
	struct nlmsghdr *h = mnl_nlmsg_put_header(room);
	const uint64_t three = htobe64(3);
	struct nlattr *nest;
	struct flow f;

	h->nlmsg_type = NFNL_SUBSYS_CTNETLINK << 8 | IPCTNL_MSG_CT_DELETE;
	mnl_nlmsg_put_extra_header(h, sizeof(struct nfgenmsg));
	if (m != TUPLE)
		put_original(h, m, smaller);
	if (m != SENT) {
		nest = mnl_attr_nest_start(h, CTA_COUNTERS_ORIG);
		put_part(h, CTA_COUNTERS_PACKETS, &three, 8, m == SENT_PACKETS,
			 smaller);
		put_part(h, CTA_COUNTERS_BYTES, &three, 8, m == SENT_BYTES,
			 smaller);
		mnl_attr_nest_end(h, nest);
	}
	if (m != RECEIVED)
		put_counter(h, CTA_COUNTERS_REPLY, 1, 2);
	/* types that are nobody's */
	mnl_attr_put_u32(h, 32, 1);
	mnl_attr_put_u32(h, 200, 1);
	return flow_msg_parse(h, &f);
}

static void missing_parts(void)
{
	for (enum missing m = NOTHING; m < MISSINGS; m++)
		for (int smaller = 0; smaller < 2; smaller++)
			CHECK_MSG(parses_without(m, smaller) == (m == NOTHING),
				  "%u %d", m, smaller);
}

/* A mark of another size is none; a message may end before its header does. */
static void odd_ones(void)
{
	const struct shape s = {false, true, false, IPPROTO_UDP,
				NFNL_SUBSYS_CTNETLINK};
	uint64_t room[128];
	struct nlmsghdr *h = message(room, &s);
	struct flow f = {.mark = 7};

	CHECK(flow_msg_parse(h, &f) && f.mark == 0 &&
	      f.packet.proto == IPPROTO_UDP && f.packet.src.family == ADDR_V4);
	mnl_attr_put_u16(h, CTA_MARK, 1);
	CHECK(flow_msg_parse(h, &f) && f.mark == 0);
	h->nlmsg_len = NLMSG_LENGTH(sizeof(struct nfgenmsg));
	f.mark = 7;
	CHECK(!flow_msg_parse(h, &f) && f.mark == 7);
	h->nlmsg_len--;
	CHECK(!flow_msg_parse(h, &f));
}

int main(void)
{
	whole();
	missing_parts();
	odd_ones();
	broken();
	return check_status();
}
