#include "runtime/gate/wire/link_facts.h"

#include <linux/rtnetlink.h>
#include <string.h>

static struct link_if *find_if(struct link_facts *f, uint32_t index)
{
	for (uint32_t i = 0; i < f->n_ifs; i++)
		if (f->ifs[i].index == index)
			return &f->ifs[i];
	if (f->n_ifs == LINK_IFS_MAX)
		return NULL;
	f->ifs[f->n_ifs].index = index;
	return &f->ifs[f->n_ifs++];
}

static int link_attr(const struct nlattr *a, void *data)
{
	struct link_if *i = data;

	if (mnl_attr_get_type(a) == IFLA_IFNAME &&
	    mnl_attr_validate(a, MNL_TYPE_NUL_STRING) >= 0)
		snprintf(i->name, sizeof(i->name), "%s", mnl_attr_get_str(a));
	if (mnl_attr_get_type(a) == IFLA_MTU &&
	    mnl_attr_validate(a, MNL_TYPE_U32) >= 0)
		i->mtu = mnl_attr_get_u32(a);
	if (mnl_attr_get_type(a) == IFLA_ADDRESS &&
	    mnl_attr_get_payload_len(a) == sizeof(i->mac))
		memcpy(i->mac, mnl_attr_get_payload(a), sizeof(i->mac));
	return MNL_CB_OK;
}

static void add_link(struct link_facts *f, const struct nlmsghdr *h)
{
	const struct ifinfomsg *ifi = mnl_nlmsg_get_payload(h);
	struct link_if *i = find_if(f, (uint32_t)ifi->ifi_index);

	if (!i)
		return;
	i->up = ifi->ifi_flags & IFF_UP;
	i->loopback = ifi->ifi_flags & IFF_LOOPBACK;
	mnl_attr_parse(h, sizeof(*ifi), link_attr, i);
}

static void add_addr(struct link_facts *f, const struct nlmsghdr *h)
{
	const struct ifaddrmsg *ifa = mnl_nlmsg_get_payload(h);
	struct link_if *i = find_if(f, ifa->ifa_index);

	if (!i)
		return;
	if (ifa->ifa_family == AF_INET)
		i->has_v4 = true;
	if (ifa->ifa_family == AF_INET6 && ifa->ifa_scope == RT_SCOPE_UNIVERSE)
		i->has_v6 = true;
}

struct route_attrs {
	struct addr gateway;
	bool v6, has_gateway;
	uint32_t index;
};

static int route_attr(const struct nlattr *a, void *data)
{
	struct route_attrs *r = data;
	uint16_t size = r->v6 ? 16 : 4;

	if (mnl_attr_get_type(a) == RTA_GATEWAY &&
	    mnl_attr_get_payload_len(a) == size) {
		r->has_gateway = true;
		r->gateway.family = r->v6 ? ADDR_V6 : ADDR_V4;
		memcpy(r->gateway.b, mnl_attr_get_payload(a), size);
	}
	if (mnl_attr_get_type(a) == RTA_OIF &&
	    mnl_attr_validate(a, MNL_TYPE_U32) >= 0)
		r->index = mnl_attr_get_u32(a);
	return MNL_CB_OK;
}

static void add_route(struct link_facts *f, const struct nlmsghdr *h)
{
	const struct rtmsg *rt = mnl_nlmsg_get_payload(h);
	struct route_attrs r = {.v6 = rt->rtm_family == AF_INET6};

	if (rt->rtm_table != RT_TABLE_MAIN || rt->rtm_type != RTN_UNICAST)
		return;
	mnl_attr_parse(h, sizeof(*rt), route_attr, &r);
	if (r.has_gateway && f->n_gateways < LINK_GATEWAYS_MAX)
		f->gateways[f->n_gateways++] = r.gateway;
	if (rt->rtm_dst_len == 0 && r.index &&
	    f->n_defaults < LINK_GATEWAYS_MAX)
		f->defaults[f->n_defaults++] =
			(struct link_route){r.index, r.v6};
}

void link_facts_add(struct link_facts *f, const struct nlmsghdr *h)
{
	size_t n = mnl_nlmsg_get_payload_len(h);

	if (h->nlmsg_type == RTM_NEWLINK && n >= sizeof(struct ifinfomsg))
		add_link(f, h);
	if (h->nlmsg_type == RTM_NEWADDR && n >= sizeof(struct ifaddrmsg))
		add_addr(f, h);
	if (h->nlmsg_type == RTM_NEWROUTE && n >= sizeof(struct rtmsg))
		add_route(f, h);
}

static const struct link_if *default_if(const struct link_facts *f, bool v6)
{
	for (uint32_t i = 0; i < f->n_defaults; i++)
		for (uint32_t k = 0; k < f->n_ifs; k++)
			if (f->defaults[i].v6 == v6 &&
			    f->ifs[k].index == f->defaults[i].index &&
			    !f->ifs[k].loopback)
				return &f->ifs[k];
	return NULL;
}

const struct link_if *link_facts_uplink(const struct link_facts *f)
{
	const struct link_if *i = default_if(f, false);

	return i ? i : default_if(f, true);
}

bool link_facts_ipv6(const struct link_facts *f)
{
	const struct link_if *i = default_if(f, true);

	return i && i->has_v6;
}

const struct link_if *link_facts_agent(const struct link_facts *f)
{
	const struct link_if *uplink = link_facts_uplink(f), *found = NULL;

	if (!uplink)
		return NULL;
	for (uint32_t i = 0; i < f->n_ifs; i++) {
		const struct link_if *c = &f->ifs[i];

		if (c == uplink || c->loopback || !c->up || !c->has_v4)
			continue;
		if (found)
			return NULL;
		found = c;
	}
	return found;
}
