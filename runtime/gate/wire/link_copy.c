#include "runtime/gate/wire/link_copy.h"

#include <libmnl/libmnl.h>
#include <linux/if_addr.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <string.h>

/* What of a message is kept: types of attributes, a bit each. */
#define BIT(type) (1u << (type))

static const uint32_t address_kept =
	BIT(IFA_ADDRESS) | BIT(IFA_LOCAL) | BIT(IFA_BROADCAST);
static const uint32_t route_kept =
	BIT(RTA_DST) | BIT(RTA_GATEWAY) | BIT(RTA_PRIORITY) | BIT(RTA_PREFSRC) |
	BIT(RTA_METRICS) | BIT(RTA_VIA) | BIT(RTA_PREF);
static const uint32_t neighbour_kept = BIT(NDA_DST) | BIT(NDA_LLADDR);

/* What is looked at, of any of the three. */
struct seen {
	uint16_t oif_type, flags_type; /* 0: there is none */
	uint32_t oif, flags;
	bool gateway;
};

static int see_attr(const struct nlattr *a, void *data)
{
	struct seen *s = data;
	uint16_t type = mnl_attr_get_type(a);

	if (type == s->oif_type && mnl_attr_validate(a, MNL_TYPE_U32) >= 0)
		s->oif = mnl_attr_get_u32(a);
	if (type == s->flags_type && mnl_attr_validate(a, MNL_TYPE_U32) >= 0)
		s->flags = mnl_attr_get_u32(a);
	if (type == RTA_GATEWAY || type == RTA_VIA)
		s->gateway = true;
	return MNL_CB_OK;
}

/* --- keeping -------------------------------------------------------------- */

/* A message with that header and room behind it; NULL: no room is left. */
static struct nlmsghdr *begin_kept(struct link_copy *c,
				   const struct nlmsghdr *h, const void *head,
				   size_t n)
{
	struct nlmsghdr *out = (void *)((char *)c->room + c->n);

	/* With attributes added, none is larger than what it came from. */
	if (sizeof(c->room) - c->n < NLMSG_ALIGN(h->nlmsg_len) + 64u) {
		c->full = true;
		return NULL;
	}
	mnl_nlmsg_put_header(out);
	out->nlmsg_type = h->nlmsg_type;
	memcpy(mnl_nlmsg_put_extra_header(out, n), head, n);
	return out;
}

struct keeping {
	uint32_t kept;
	struct nlmsghdr *out;
};

static int keep_attr(const struct nlattr *a, void *data)
{
	const struct keeping *k = data;
	uint16_t type = mnl_attr_get_type(a);

	if (type < 32 && k->kept & BIT(type))
		mnl_attr_put(k->out, type, mnl_attr_get_payload_len(a),
			     mnl_attr_get_payload(a));
	return MNL_CB_OK;
}

static void end_kept(struct link_copy *c, const struct nlmsghdr *h, size_t head,
		     uint32_t kept, struct nlmsghdr *out)
{
	struct keeping k = {kept, out};

	mnl_attr_parse(h, (unsigned)head, keep_attr, &k);
	/* Each begins where a number of eight bytes may. */
	c->n += (out->nlmsg_len + 7u) & ~7u;
}

static void keep_address(struct link_copy *c, const struct nlmsghdr *h)
{
	struct ifaddrmsg head = *(struct ifaddrmsg *)mnl_nlmsg_get_payload(h);
	struct seen s = {.flags_type = IFA_FLAGS, .flags = head.ifa_flags};
	struct nlmsghdr *out;

	mnl_attr_parse(h, sizeof(head), see_attr, &s);
	if (head.ifa_index != c->index ||
	    (head.ifa_family != AF_INET && head.ifa_family != AF_INET6) ||
	    (head.ifa_family == AF_INET6 &&
	     s.flags & (IFA_F_DADFAILED | IFA_F_TEMPORARY)))
		return;
	/* It was nobody else's before; no wait for duplicates. */
	s.flags &= IFA_F_NOPREFIXROUTE;
	if (head.ifa_family == AF_INET6)
		s.flags |= IFA_F_NODAD;
	head.ifa_flags = (uint8_t)s.flags;
	out = begin_kept(c, h, &head, sizeof(head));
	if (!out)
		return;
	mnl_attr_put_u32(out, IFA_FLAGS, s.flags);
	end_kept(c, h, sizeof(head), address_kept, out);
}

static void keep_route(struct link_copy *c, const struct nlmsghdr *h)
{
	struct rtmsg head = *(struct rtmsg *)mnl_nlmsg_get_payload(h);
	struct seen s = {.oif_type = RTA_OIF};
	struct nlmsghdr *out;

	mnl_attr_parse(h, sizeof(head), see_attr, &s);
	if (s.oif != c->index || head.rtm_table != RT_TABLE_MAIN ||
	    head.rtm_type != RTN_UNICAST || head.rtm_flags & RTM_F_CLONED ||
	    head.rtm_protocol == RTPROT_KERNEL ||
	    head.rtm_protocol == RTPROT_REDIRECT)
		return;
	head.rtm_flags &= RTNH_F_ONLINK;
	out = begin_kept(c, h, &head, sizeof(head));
	if (!out)
		return;
	/* First, where link_copy_write() finds it. */
	mnl_attr_put_u32(out, RTA_OIF, c->index);
	end_kept(c, h, sizeof(head), route_kept, out);
	c->has_default |= head.rtm_dst_len == 0;
}

static void keep_neighbour(struct link_copy *c, const struct nlmsghdr *h)
{
	struct ndmsg head = *(struct ndmsg *)mnl_nlmsg_get_payload(h);
	struct nlmsghdr *out;

	if (head.ndm_ifindex != (int)c->index ||
	    !(head.ndm_state & NUD_PERMANENT) ||
	    (head.ndm_family != AF_INET && head.ndm_family != AF_INET6))
		return;
	out = begin_kept(c, h, &head, sizeof(head));
	if (out)
		end_kept(c, h, sizeof(head), neighbour_kept, out);
}

void link_copy_add(struct link_copy *c, const struct nlmsghdr *h)
{
	size_t n = mnl_nlmsg_get_payload_len(h);

	if (h->nlmsg_type == RTM_NEWADDR && n >= sizeof(struct ifaddrmsg))
		keep_address(c, h);
	if (h->nlmsg_type == RTM_NEWROUTE && n >= sizeof(struct rtmsg))
		keep_route(c, h);
	if (h->nlmsg_type == RTM_NEWNEIGH && n >= sizeof(struct ndmsg))
		keep_neighbour(c, h);
}

/* --- giving back ---------------------------------------------------------- */

static enum link_copy_kind kind_of(const struct nlmsghdr *kept)
{
	struct seen s = {.oif_type = RTA_OIF};

	if (kept->nlmsg_type == RTM_NEWADDR)
		return LINK_COPY_ADDRESS;
	if (kept->nlmsg_type == RTM_NEWNEIGH)
		return LINK_COPY_NEIGHBOUR;
	mnl_attr_parse(kept, sizeof(struct rtmsg), see_attr, &s);
	return s.gateway ? LINK_COPY_ROUTE : LINK_COPY_DIRECT;
}

const struct nlmsghdr *link_copy_next(const struct link_copy *c,
				      enum link_copy_kind kind,
				      const struct nlmsghdr *last)
{
	const char *room = (const char *)c->room;
	size_t at = 0;

	if (last)
		at = (size_t)((const char *)last - room) +
		     ((last->nlmsg_len + 7u) & ~7u);
	while (at < c->n) {
		const struct nlmsghdr *h = (const void *)(room + at);

		if (kind_of(h) == kind)
			return h;
		at += (h->nlmsg_len + 7u) & ~7u;
	}
	return NULL;
}

void link_copy_write(const struct nlmsghdr *kept, uint32_t index, void *room)
{
	struct nlmsghdr *out = room;
	void *head = (char *)room + sizeof(*out);

	memcpy(room, kept, kept->nlmsg_len);
	if (kept->nlmsg_type == RTM_NEWADDR)
		((struct ifaddrmsg *)head)->ifa_index = index;
	else if (kept->nlmsg_type == RTM_NEWNEIGH)
		((struct ndmsg *)head)->ndm_ifindex = (int)index;
	else
		memcpy(mnl_attr_get_payload(mnl_nlmsg_get_payload_offset(
			       out, sizeof(struct rtmsg))),
		       &index, sizeof(index));
}

struct wanted {
	const struct addr *addr;
	bool found;
};

static int find_addr(const struct nlattr *a, void *data)
{
	struct wanted *w = data;
	size_t n = addr_bits(w->addr->family) / 8u;

	if ((mnl_attr_get_type(a) == IFA_ADDRESS ||
	     mnl_attr_get_type(a) == IFA_LOCAL) &&
	    mnl_attr_get_payload_len(a) == n &&
	    memcmp(mnl_attr_get_payload(a), w->addr->b, n) == 0)
		w->found = true;
	return MNL_CB_OK;
}

bool link_copy_has(const struct link_copy *c, const struct addr *addr)
{
	const struct nlmsghdr *h = NULL;
	struct wanted w = {.addr = addr};

	while ((h = link_copy_next(c, LINK_COPY_ADDRESS, h)))
		mnl_attr_parse(h, sizeof(struct ifaddrmsg), find_addr, &w);
	return w.found;
}
