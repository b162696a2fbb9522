#include "runtime/gate/wire/flow_msg.h"

#include <arpa/inet.h>
#include <endian.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <string.h>

#define ATTRS_MAX 32

/* The attributes of one level, by type; those beyond are nobody's here. */
struct attrs {
	const struct nlattr *v[ATTRS_MAX];
};

static int take_attr(const struct nlattr *a, void *data)
{
	struct attrs *all = data;

	if (mnl_attr_get_type(a) < ATTRS_MAX)
		all->v[mnl_attr_get_type(a)] = a;
	return MNL_CB_OK;
}

static struct attrs nested_attrs(const struct nlattr *nest)
{
	struct attrs out = {0};

	if (nest)
		mnl_attr_parse_nested(nest, take_attr, &out);
	return out;
}

/* NULL where it is missing, or of another size. */
static const void *attr_bytes(const struct nlattr *a, size_t n)
{
	return a && mnl_attr_get_payload_len(a) == n ? mnl_attr_get_payload(a)
						     : NULL;
}

static bool take_addr(const struct attrs *ip, int v4, int v6, struct addr *out)
{
	const void *four = attr_bytes(ip->v[v4], 4),
		   *six = attr_bytes(ip->v[v6], 16);

	if (!four && !six)
		return false;
	*out = (struct addr){.family = four ? ADDR_V4 : ADDR_V6};
	memcpy(out->b, four ? four : six, four ? 4 : 16);
	return true;
}

static bool take_port(const struct nlattr *a, uint16_t *out)
{
	uint16_t port;
	const void *p = attr_bytes(a, sizeof(port));

	if (!p)
		return false;
	memcpy(&port, p, sizeof(port));
	*out = ntohs(port);
	return true;
}

static bool take_tuple(const struct nlattr *nest, struct packet *out)
{
	struct attrs tuple = nested_attrs(nest);
	struct attrs ip = nested_attrs(tuple.v[CTA_TUPLE_IP]);
	struct attrs proto = nested_attrs(tuple.v[CTA_TUPLE_PROTO]);
	const uint8_t *number = attr_bytes(proto.v[CTA_PROTO_NUM], 1);
	struct packet p = {.has_port = true};

	if (!number || (*number != IPPROTO_TCP && *number != IPPROTO_UDP))
		return false;
	p.proto = *number;
	if (!take_addr(&ip, CTA_IP_V4_SRC, CTA_IP_V6_SRC, &p.src) ||
	    !take_addr(&ip, CTA_IP_V4_DST, CTA_IP_V6_DST, &p.dst) ||
	    !take_port(proto.v[CTA_PROTO_SRC_PORT], &p.sport) ||
	    !take_port(proto.v[CTA_PROTO_DST_PORT], &p.dport))
		return false;
	*out = p;
	return true;
}

static bool take_number(const struct nlattr *a, uint64_t *out)
{
	uint64_t number;
	const void *p = attr_bytes(a, sizeof(number));

	if (!p)
		return false;
	memcpy(&number, p, sizeof(number));
	*out = be64toh(number);
	return true;
}

static bool take_counter(const struct nlattr *nest, struct flow_counter *out)
{
	struct attrs c = nested_attrs(nest);

	return take_number(c.v[CTA_COUNTERS_PACKETS], &out->packets) &&
	       take_number(c.v[CTA_COUNTERS_BYTES], &out->bytes);
}

bool flow_msg_parse(const struct nlmsghdr *h, struct flow *out)
{
	struct attrs all = {0};
	struct flow f = {.mark = 0};
	const void *mark;

	if (NFNL_SUBSYS_ID(h->nlmsg_type) != NFNL_SUBSYS_CTNETLINK ||
	    h->nlmsg_len < NLMSG_LENGTH(sizeof(struct nfgenmsg)))
		return false;
	mnl_attr_parse(h, sizeof(struct nfgenmsg), take_attr, &all);
	mark = attr_bytes(all.v[CTA_MARK], sizeof(f.mark));
	if (mark)
		memcpy(&f.mark, mark, sizeof(f.mark));
	f.mark = ntohl(f.mark);
	if (!take_tuple(all.v[CTA_TUPLE_ORIG], &f.packet) ||
	    !take_counter(all.v[CTA_COUNTERS_ORIG], &f.sent) ||
	    !take_counter(all.v[CTA_COUNTERS_REPLY], &f.received))
		return false;
	*out = f;
	return true;
}
