/* What is kept of an interface, from messages made by hand, and what is asked
 * of the kernel to make it again. */
#include "runtime/gate/wire/link_copy.h"

#include "tests/check.h"

#include <libmnl/libmnl.h>
#include <linux/if_addr.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#define INDEX 7u

static struct link_copy copy;
static uint64_t room[512];
static const uint8_t four[4] = {11, 0, 0, 1}, six[16] = {0x20, 1, 0x0d, 0xb8};

static void begin(void)
{
	memset(&copy, 0, sizeof(copy));
	copy.index = INDEX;
}

/* So many of that kind are kept. */
static unsigned count(enum link_copy_kind kind)
{
	const struct nlmsghdr *h = NULL;
	unsigned n = 0;

	while ((h = link_copy_next(&copy, kind, h)))
		n++;
	return n;
}

static unsigned count_all(void)
{
	return count(LINK_COPY_ADDRESS) + count(LINK_COPY_DIRECT) +
	       count(LINK_COPY_ROUTE) + count(LINK_COPY_NEIGHBOUR);
}

static int take_one(const struct nlattr *a, void *data)
{
	const struct nlattr **v = data;

	CHECK(mnl_attr_get_type(a) < 64 && !v[mnl_attr_get_type(a)]);
	v[mnl_attr_get_type(a)] = a;
	return MNL_CB_OK;
}

/* The attributes of a message, by type; how many there are. */
static unsigned attributes(const struct nlmsghdr *h, size_t head,
			   const struct nlattr *v[64])
{
	unsigned n = 0;

	memset(v, 0, 64 * sizeof(*v));
	CHECK(mnl_attr_parse(h, (unsigned)head, take_one, v) >= 0);
	for (size_t i = 0; i < 64; i++)
		n += v[i] != NULL;
	return n;
}

/* --- addresses ---------------------------------------------------------- */

struct address {
	uint8_t family, flags;
	uint32_t index, long_flags; /* 0: without them */
};

static struct nlmsghdr *address(const struct address *a)
{
	struct nlmsghdr *h = mnl_nlmsg_put_header(room);
	struct ifaddrmsg *ifa = mnl_nlmsg_put_extra_header(h, sizeof(*ifa));
	bool v6 = a->family == AF_INET6;

	h->nlmsg_type = RTM_NEWADDR;
	*ifa = (struct ifaddrmsg){.ifa_family = a->family,
				  .ifa_prefixlen = 24,
				  .ifa_flags = a->flags,
				  .ifa_scope = RT_SCOPE_UNIVERSE,
				  .ifa_index = a->index};
	mnl_attr_put(h, IFA_ADDRESS, v6 ? 16 : 4, v6 ? six : four);
	mnl_attr_put(h, IFA_LOCAL, v6 ? 16 : 4, v6 ? six : four);
	mnl_attr_put_strz(h, IFA_LABEL, "eth0");
	if (a->long_flags)
		mnl_attr_put_u32(h, IFA_FLAGS, a->long_flags);
	/* types that nobody here knows, above those that have a bit */
	mnl_attr_put_u32(h, 33, 1);
	return h;
}

/* The flags by which it is asked for again; UINT32_MAX: it is not kept. */
static uint32_t kept_flags(const struct address *a)
{
	const struct nlattr *v[64];
	const struct nlmsghdr *h;
	const struct ifaddrmsg *head;

	begin();
	link_copy_add(&copy, address(a));
	h = link_copy_next(&copy, LINK_COPY_ADDRESS, NULL);
	CHECK(count_all() == (h ? 1 : 0));
	if (!h)
		return UINT32_MAX;
	head = mnl_nlmsg_get_payload(h);
	CHECK(attributes(h, sizeof(*head), v) == 3 && v[IFA_ADDRESS] &&
	      v[IFA_LOCAL] && v[IFA_FLAGS]);
	CHECK(head->ifa_family == a->family && head->ifa_prefixlen == 24 &&
	      head->ifa_index == INDEX && h->nlmsg_type == RTM_NEWADDR);
	CHECK(head->ifa_flags == (uint8_t)mnl_attr_get_u32(v[IFA_FLAGS]));
	CHECK(!link_copy_next(&copy, LINK_COPY_ADDRESS, h));
	return mnl_attr_get_u32(v[IFA_FLAGS]);
}

static void addresses(void)
{
	static const struct {
		struct address a;
		uint32_t want;
	} cases[] = {
		{{AF_INET, IFA_F_PERMANENT, INDEX, 0}, 0},
		{{AF_INET, IFA_F_PERMANENT, INDEX + 1, 0}, UINT32_MAX},
		{{AF_PACKET, 0, INDEX, 0}, UINT32_MAX},
		/* the route to its prefix was not wanted */
		{{AF_INET, IFA_F_PERMANENT, INDEX,
		  IFA_F_PERMANENT | IFA_F_NOPREFIXROUTE},
		 IFA_F_NOPREFIXROUTE},
		/* of IPv4 the same bit is another thing */
		{{AF_INET, IFA_F_SECONDARY, INDEX, 0}, 0},
		/* no wait for duplicates */
		{{AF_INET6, IFA_F_PERMANENT, INDEX, 0}, IFA_F_NODAD},
		{{AF_INET6, IFA_F_TEMPORARY, INDEX, 0}, UINT32_MAX},
		{{AF_INET6, IFA_F_DADFAILED, INDEX, 0}, UINT32_MAX},
		{{AF_INET6, 0, INDEX, IFA_F_TEMPORARY | IFA_F_NOPREFIXROUTE},
		 UINT32_MAX},
		{{AF_INET6, IFA_F_TEMPORARY, INDEX, IFA_F_NOPREFIXROUTE},
		 IFA_F_NOPREFIXROUTE | IFA_F_NODAD},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		CHECK_MSG(kept_flags(&cases[i].a) == cases[i].want, "%zu", i);
}

/* Flags of another size are none; a header alone is a whole message. */
static void odd_addresses(void)
{
	struct address a = {AF_INET6, 0, INDEX, 0};
	struct nlmsghdr *h = address(&a);

	begin();
	mnl_attr_put_u16(h, IFA_FLAGS, IFA_F_TEMPORARY);
	link_copy_add(&copy, h);
	CHECK(count(LINK_COPY_ADDRESS) == 1);
	h->nlmsg_len = NLMSG_LENGTH(sizeof(struct ifaddrmsg));
	link_copy_add(&copy, h);
	CHECK(count(LINK_COPY_ADDRESS) == 2);
	h->nlmsg_len--;
	link_copy_add(&copy, h);
	CHECK(count(LINK_COPY_ADDRESS) == 2);
	/* one that goes */
	h = address(&a);
	h->nlmsg_type = RTM_DELADDR;
	link_copy_add(&copy, h);
	CHECK(count_all() == 2);
}

static bool has(const char *text)
{
	struct addr a;

	CHECK(addr_parse(str_of(text), &a));
	return link_copy_has(&copy, &a);
}

static void lookups(void)
{
	static const uint8_t peer[4] = {11, 0, 0, 2}, all[4] = {11, 0, 0, 255};
	struct nlmsghdr *h = mnl_nlmsg_put_header(room);
	struct ifaddrmsg *ifa = mnl_nlmsg_put_extra_header(h, sizeof(*ifa));

	begin();
	CHECK(!has("11.0.0.1"));
	h->nlmsg_type = RTM_NEWADDR;
	*ifa = (struct ifaddrmsg){.ifa_family = AF_INET, .ifa_index = INDEX};
	mnl_attr_put(h, IFA_ADDRESS, 4, peer);
	mnl_attr_put(h, IFA_LOCAL, 4, four);
	mnl_attr_put(h, IFA_BROADCAST, 4, all);
	link_copy_add(&copy, h);
	link_copy_add(&copy, address(&(struct address){AF_INET6, 0, INDEX, 0}));
	CHECK(has("11.0.0.1") && has("11.0.0.2") && has("2001:db8::"));
	CHECK(!has("11.0.0.255") && !has("11.0.0.3") && !has("2001:db8::1") &&
	      !has("b00:1::"));
	/* one of IPv6 that begins as one of IPv4 */
	begin();
	h = mnl_nlmsg_put_header(room);
	ifa = mnl_nlmsg_put_extra_header(h, sizeof(*ifa));
	h->nlmsg_type = RTM_NEWADDR;
	*ifa = (struct ifaddrmsg){.ifa_family = AF_INET6, .ifa_index = INDEX};
	mnl_attr_put(h, IFA_ADDRESS, 16, (uint8_t[16]){11, 0, 0, 1});
	link_copy_add(&copy, h);
	CHECK(has("b00:1::") && !has("11.0.0.1"));
}

/* --- routes ------------------------------------------------------------- */

struct route {
	uint8_t bits, table, type, protocol;
	uint32_t flags, index;
	uint16_t gateway; /* the attribute; 0: none */
};
static const struct route plain = {
	24, RT_TABLE_MAIN, RTN_UNICAST, RTPROT_BOOT, 0, INDEX, 0};

static struct nlmsghdr *route(const struct route *r)
{
	struct nlmsghdr *h = mnl_nlmsg_put_header(room);
	struct rtmsg *rt = mnl_nlmsg_put_extra_header(h, sizeof(*rt));

	h->nlmsg_type = RTM_NEWROUTE;
	*rt = (struct rtmsg){.rtm_family = AF_INET,
			     .rtm_dst_len = r->bits,
			     .rtm_table = r->table,
			     .rtm_type = r->type,
			     .rtm_protocol = r->protocol,
			     .rtm_flags = r->flags};
	mnl_attr_put_u32(h, RTA_TABLE, r->table);
	mnl_attr_put(h, RTA_DST, 4, four);
	if (r->gateway)
		mnl_attr_put(h, r->gateway, 4, four);
	mnl_attr_put_u32(h, RTA_OIF, r->index);
	mnl_attr_put_u32(h, RTA_PRIORITY, 5); /* a number like the one before */
	return h;
}

static void kept_route(void)
{
	struct route r = plain;
	const struct nlattr *v[64], *first;
	const struct nlmsghdr *h;
	const struct rtmsg *head;

	begin();
	r.flags = RTNH_F_ONLINK | RTNH_F_LINKDOWN;
	link_copy_add(&copy, route(&r));
	h = link_copy_next(&copy, LINK_COPY_DIRECT, NULL);
	CHECK(h && count_all() == 1 && !copy.has_default && !copy.full);
	head = mnl_nlmsg_get_payload(h);
	CHECK(head->rtm_flags == RTNH_F_ONLINK && head->rtm_dst_len == 24 &&
	      head->rtm_protocol == RTPROT_BOOT);
	first = mnl_nlmsg_get_payload_offset(h, sizeof(*head));
	CHECK(mnl_attr_get_type(first) == RTA_OIF);
	CHECK(attributes(h, sizeof(*head), v) == 3 && v[RTA_DST] &&
	      v[RTA_PRIORITY] && v[RTA_OIF] &&
	      mnl_attr_get_u32(v[RTA_OIF]) == INDEX);
}

static void routes(void)
{
	static const struct {
		struct route r;
		bool kept, direct, is_default;
	} cases[] = {
		{{24, RT_TABLE_MAIN, RTN_UNICAST, RTPROT_BOOT, 0, INDEX, 0},
		 true,
		 true,
		 false},
		{{24, RT_TABLE_MAIN, RTN_UNICAST, RTPROT_BOOT, 0, INDEX,
		  RTA_GATEWAY},
		 true,
		 false,
		 false},
		{{0, RT_TABLE_MAIN, RTN_UNICAST, RTPROT_BOOT, 0, INDEX,
		  RTA_VIA},
		 true,
		 false,
		 true},
		{{0, RT_TABLE_MAIN, RTN_UNICAST, RTPROT_RA, 0, INDEX, 0},
		 true,
		 true,
		 true},
		{{0, RT_TABLE_MAIN, RTN_UNICAST, RTPROT_BOOT, 0, INDEX + 1, 0},
		 false,
		 false,
		 false},
		{{0, RT_TABLE_LOCAL, RTN_UNICAST, RTPROT_BOOT, 0, INDEX, 0},
		 false,
		 false,
		 false},
		{{0, RT_TABLE_MAIN, RTN_BLACKHOLE, RTPROT_BOOT, 0, INDEX, 0},
		 false,
		 false,
		 false},
		{{0, RT_TABLE_MAIN, RTN_UNICAST, RTPROT_BOOT, RTM_F_CLONED,
		  INDEX, 0},
		 false,
		 false,
		 false},
		{{0, RT_TABLE_MAIN, RTN_UNICAST, RTPROT_KERNEL, 0, INDEX, 0},
		 false,
		 false,
		 false},
		{{0, RT_TABLE_MAIN, RTN_UNICAST, RTPROT_REDIRECT, 0, INDEX, 0},
		 false,
		 false,
		 false},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		begin();
		link_copy_add(&copy, route(&cases[i].r));
		CHECK_MSG(count_all() == cases[i].kept, "%zu", i);
		CHECK_MSG(count(LINK_COPY_DIRECT) == cases[i].direct, "%zu", i);
		CHECK_MSG(copy.has_default == cases[i].is_default, "%zu", i);
	}
	/* it stays so, whatever comes */
	begin();
	link_copy_add(&copy, route(&cases[3].r));
	link_copy_add(&copy, route(&cases[0].r));
	CHECK(copy.has_default && count(LINK_COPY_DIRECT) == 2);
}

/* Its interface is one of four bytes, and it has to have one. */
static void odd_routes(void)
{
	struct nlmsghdr *h = mnl_nlmsg_put_header(room);
	struct rtmsg *rt = mnl_nlmsg_put_extra_header(h, sizeof(*rt));

	begin();
	h->nlmsg_type = RTM_NEWROUTE;
	*rt = (struct rtmsg){.rtm_table = RT_TABLE_MAIN,
			     .rtm_type = RTN_UNICAST};
	mnl_attr_put_u16(h, RTA_OIF, INDEX);
	link_copy_add(&copy, h);
	h->nlmsg_len = NLMSG_LENGTH(sizeof(*rt));
	link_copy_add(&copy, h);
	CHECK(count_all() == 0);
	/* of none at all, only a whole header is read */
	copy.index = 0;
	h->nlmsg_len--;
	link_copy_add(&copy, h);
	CHECK(count_all() == 0);
	h->nlmsg_len++;
	link_copy_add(&copy, h);
	CHECK(count_all() == 1);
}

/* --- neighbours --------------------------------------------------------- */

static struct nlmsghdr *neighbour(uint8_t family, uint16_t state, int index)
{
	static const uint8_t mac[6] = {2, 0, 0, 0, 0, 9};
	struct nlmsghdr *h = mnl_nlmsg_put_header(room);
	struct ndmsg *nd = mnl_nlmsg_put_extra_header(h, sizeof(*nd));

	h->nlmsg_type = RTM_NEWNEIGH;
	*nd = (struct ndmsg){
		.ndm_family = family, .ndm_state = state, .ndm_ifindex = index};
	mnl_attr_put(h, NDA_DST, 4, four);
	mnl_attr_put(h, NDA_LLADDR, 6, mac);
	mnl_attr_put_u32(h, NDA_PROBES, 1);
	return h;
}

static void neighbours(void)
{
	static const struct {
		uint8_t family;
		uint16_t state;
		int index;
		bool kept;
	} cases[] = {
		{AF_INET, NUD_PERMANENT, INDEX, true},
		{AF_INET6, NUD_PERMANENT, INDEX, true},
		{AF_BRIDGE, NUD_PERMANENT, INDEX, false},
		{AF_INET, NUD_REACHABLE, INDEX, false},
		{AF_INET, NUD_PERMANENT, INDEX + 1, false},
	};
	const struct nlattr *v[64];
	const struct nlmsghdr *h;
	struct nlmsghdr *bare;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		begin();
		link_copy_add(&copy, neighbour(cases[i].family, cases[i].state,
					       cases[i].index));
		h = link_copy_next(&copy, LINK_COPY_NEIGHBOUR, NULL);
		CHECK_MSG(count_all() == cases[i].kept &&
				  (h != NULL) == cases[i].kept,
			  "%zu", i);
		if (h)
			CHECK(attributes(h, sizeof(struct ndmsg), v) == 2 &&
			      v[NDA_DST] && v[NDA_LLADDR]);
	}
	begin();
	bare = neighbour(AF_INET, NUD_PERMANENT, INDEX);
	bare->nlmsg_len = NLMSG_LENGTH(sizeof(struct ndmsg)) - 1;
	link_copy_add(&copy, bare);
	CHECK(count_all() == 0);
	bare->nlmsg_len++;
	link_copy_add(&copy, bare);
	CHECK(count_all() == 1);
	/* what goes is not kept */
	begin();
	bare = neighbour(AF_INET, NUD_PERMANENT, INDEX);
	bare->nlmsg_type = RTM_DELNEIGH;
	link_copy_add(&copy, bare);
	bare = route(&plain);
	bare->nlmsg_type = RTM_DELROUTE;
	link_copy_add(&copy, bare);
	CHECK(count_all() == 0 && copy.n == 0);
}

/* --- giving back -------------------------------------------------------- */

/* The same, at another interface; of the rest no byte is another. */
static void written(void)
{
	static uint64_t out[64];
	const struct nlmsghdr *h;
	const struct nlattr *v[64];
	const struct nlmsghdr *w = (const void *)out;

	begin();
	link_copy_add(&copy, neighbour(AF_INET, NUD_PERMANENT, INDEX));
	link_copy_add(&copy, route(&plain));
	link_copy_add(&copy, address(&(struct address){AF_INET, 0, INDEX, 0}));
	h = link_copy_next(&copy, LINK_COPY_ADDRESS, NULL);
	link_copy_write(h, 9, out);
	CHECK(w->nlmsg_type == RTM_NEWADDR && w->nlmsg_len == h->nlmsg_len);
	CHECK(((struct ifaddrmsg *)mnl_nlmsg_get_payload(w))->ifa_index == 9);
	link_copy_write(h, INDEX, out);
	CHECK(memcmp(out, h, h->nlmsg_len) == 0);
	h = link_copy_next(&copy, LINK_COPY_NEIGHBOUR, NULL);
	link_copy_write(h, 9, out);
	CHECK(((struct ndmsg *)mnl_nlmsg_get_payload(w))->ndm_ifindex == 9);
	link_copy_write(h, INDEX, out);
	CHECK(memcmp(out, h, h->nlmsg_len) == 0);
	h = link_copy_next(&copy, LINK_COPY_DIRECT, NULL);
	link_copy_write(h, 9, out);
	CHECK(attributes(w, sizeof(struct rtmsg), v) == 3 &&
	      mnl_attr_get_u32(v[RTA_OIF]) == 9);
	link_copy_write(h, INDEX, out);
	CHECK(memcmp(out, h, h->nlmsg_len) == 0);
}

/* What has no room is not kept, and that is known. */
static void full(void)
{
	struct route to_all = plain;
	unsigned n = 0;

	begin();
	to_all.bits = 0;
	while (!copy.full && n < LINK_COPY_BYTES) {
		link_copy_add(&copy, neighbour(AF_INET, NUD_PERMANENT, INDEX));
		n += !copy.full;
	}
	CHECK(copy.full && count(LINK_COPY_NEIGHBOUR) == n && n > 400);
	CHECK(copy.n <= LINK_COPY_BYTES && copy.n > LINK_COPY_BYTES - 128);
	link_copy_add(&copy, route(&to_all));
	link_copy_add(&copy, address(&(struct address){AF_INET, 0, INDEX, 0}));
	CHECK(count_all() == n && !copy.has_default);
}

int main(void)
{
	addresses();
	odd_addresses();
	lookups();
	kept_route();
	routes();
	odd_routes();
	neighbours();
	written();
	full();
	return check_status();
}
