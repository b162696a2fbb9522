/*
 * What the kernel holds of a session: links as both ends have them, the rules
 * for marked packets, and elements of sets. Each in a network of its own.
 */
#include "runtime/gate/packet/nftset.h"
#include "runtime/gate/packet/rtnl.h"
#include "runtime/gate/packet/ruleset.h"
#include "tests/unit/gate/plans.h"

#include <errno.h>
#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <nftables/libnftables.h>
#include <stdarg.h>
#include <stdlib.h>

/* --- what there is, a line for each --------------------------------------- */

static char list[8192];

static void add_text(const char *format, ...)
{
	size_t n = strlen(list);
	va_list more;

	va_start(more, format);
	vsnprintf(list + n, sizeof(list) - n, format, more);
	va_end(more);
}

struct wanted {
	uint16_t type;
	const struct nlattr *found;
};

static int find_type(const struct nlattr *a, void *data)
{
	struct wanted *w = data;

	if (mnl_attr_get_type(a) == w->type)
		w->found = a;
	return MNL_CB_OK;
}

/* NULL: there is none. */
static const void *attr_of(const struct nlmsghdr *h, size_t body, uint16_t type)
{
	struct wanted w = {type, NULL};

	(void)mnl_attr_parse(h, (unsigned)body, find_type, &w);
	return w.found ? mnl_attr_get_payload(w.found) : NULL;
}

static void add_attr(const struct nlmsghdr *h, size_t body, uint16_t type,
		     uint8_t family, const char *name)
{
	struct addr addr = {.family = family == AF_INET6 ? ADDR_V6 : ADDR_V4};
	const void *bytes = attr_of(h, body, type);
	char text[ADDR_TEXT_MAX];

	if (!bytes)
		return;
	memcpy(addr.b, bytes, addr_bits(addr.family) / 8u);
	add_text(" %s %s", name, addr_text(&addr, text));
}

static uint32_t attr_u32(const struct nlmsghdr *h, size_t body, uint16_t type)
{
	const uint32_t *value = attr_of(h, body, type);

	return value ? *value : 0;
}

static const char *name_of(uint32_t index)
{
	static char name[IF_NAMESIZE];

	return if_indextoname(index, name) ? name : "-";
}

static int list_address(const struct nlmsghdr *h, void *data)
{
	const struct ifaddrmsg *a = mnl_nlmsg_get_payload(h);

	(void)data;
	add_text("%s/%u", name_of(a->ifa_index), a->ifa_prefixlen);
	add_attr(h, sizeof(*a), IFA_ADDRESS, a->ifa_family, "has");
	add_text("%s\n", a->ifa_flags & IFA_F_TENTATIVE ? " tentative" : "");
	return MNL_CB_OK;
}

static int list_route(const struct nlmsghdr *h, void *data)
{
	const struct rtmsg *r = mnl_nlmsg_get_payload(h);

	(void)data;
	if (r->rtm_dst_len == 0 && attr_u32(h, sizeof(*r), RTA_OIF)) {
		add_text("%s type %u table %u scope %u",
			 name_of(attr_u32(h, sizeof(*r), RTA_OIF)), r->rtm_type,
			 attr_u32(h, sizeof(*r), RTA_TABLE), r->rtm_scope);
		add_attr(h, sizeof(*r), RTA_GATEWAY, r->rtm_family, "via");
		add_text("%s\n", r->rtm_family == AF_INET6 ? " six" : "");
	}
	return MNL_CB_OK;
}

static int list_neighbour(const struct nlmsghdr *h, void *data)
{
	const struct ndmsg *n = mnl_nlmsg_get_payload(h);
	const uint8_t *mac = attr_of(h, sizeof(*n), NDA_LLADDR);

	(void)data;
	if (n->ndm_state != NUD_PERMANENT)
		return MNL_CB_OK;
	add_text("%s", name_of((uint32_t)n->ndm_ifindex));
	add_attr(h, sizeof(*n), NDA_DST, n->ndm_family, "knows");
	if (mac)
		add_text(" at %02x:%02x", mac[0], mac[5]);
	add_text("\n");
	return MNL_CB_OK;
}

static int list_rule(const struct nlmsghdr *h, void *data)
{
	const struct fib_rule_hdr *r = mnl_nlmsg_get_payload(h);

	(void)data;
	if (r->family == AF_INET6 && attr_u32(h, sizeof(*r), FRA_FWMARK))
		add_text("mark %u table %u\n",
			 attr_u32(h, sizeof(*r), FRA_FWMARK),
			 attr_u32(h, sizeof(*r), FRA_TABLE));
	return MNL_CB_OK;
}

static const char *listed(uint16_t type, size_t body, mnl_cb_t visit)
{
	auto_rtnl struct rtnl rt = {0};

	list[0] = '\0';
	CHECK(FINE(rtnl_open(&rt, 0, &err)) &&
	      FINE(rtnl_dump(&rt, type, body, visit, NULL, &err)));
	return list;
}

static const char *addresses(void)
{
	return listed(RTM_GETADDR, sizeof(struct ifaddrmsg), list_address);
}

static const char *routes(void)
{
	return listed(RTM_GETROUTE, sizeof(struct rtmsg), list_route);
}

static const char *neighbours(void)
{
	return listed(RTM_GETNEIGH, sizeof(struct ndmsg), list_neighbour);
}

static bool has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fprintf(stderr, "no '%s' in:\n%s", part, text);
	return strstr(text, part) != NULL;
}

/* --- links ---------------------------------------------------------------- */

static bool is_up(const char *name)
{
	struct link_facts f;

	CHECK(FINE(link_facts_read(&f, &err)));
	for (uint32_t i = 0; i < f.n_ifs; i++)
		if (strcmp(f.ifs[i].name, name) == 0)
			return f.ifs[i].up;
	return false;
}

static void gate_end(bool ipv6)
{
	CHECK(FINE(link_gate_up(getpid(), 1399, ipv6, &err)));
	CHECK(is_up(LINK_GATE_IF) && !is_up(LINK_AGENT_IF));
	CHECK(has(addresses(), "agent0/30 has 192.0.0.1\n"));
	CHECK((strstr(list, "agent0/64 has fd00:6d65:6d62::1\n") != NULL) ==
	      ipv6);
	/* no address of the kernel's own making */
	CHECK(!strstr(list, "fe80"));
	CHECK(has(neighbours(), "agent0 knows 192.0.0.2 at 02:02\n"));
	CHECK((strstr(list, "agent0 knows fd00:6d65:6d62::2 at 02:02\n") !=
	       NULL) == ipv6);
}

#define SIX_OFF "/proc/sys/net/ipv6/conf/%s/disable_ipv6"

static bool is_without_six(const char *name)
{
	char path[64], c = '0';
	int fd;

	snprintf(path, sizeof(path), SIX_OFF, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0 && read(fd, &c, 1) == 1);
	close(fd);
	return c == '1';
}

/* What is made from now on is without IPv6; false: nobody may say so here. */
static bool leave_out_six(void)
{
	char path[64];

	snprintf(path, sizeof(path), SIX_OFF, "default");
	return put_line(path, "1");
}

/* The agent's, whose other end is in another network then. */
static void agent_end(bool ipv6)
{
	auto_rtnl struct rtnl rt = {0};
	const struct rtnl_pair p = {
		.name = LINK_AGENT_IF, .other = "there", .mtu = 1399};
	bool left_out = leave_out_six();

	CHECK(FINE(rtnl_open(&rt, 0, &err)) &&
	      FINE(rtnl_make_pair(&rt, &p, &err)) &&
	      FINE(rtnl_set_up(&rt, if_nametoindex("there"), true, &err)));
	CHECK(FINE(link_agent_up(ipv6, &err)));
	/* switched on where it is wanted, and nowhere else */
	CHECK(!left_out || is_without_six(LINK_AGENT_IF) == !ipv6);
	CHECK(is_up(LINK_AGENT_IF) && is_up("lo"));
	CHECK(has(addresses(), "eth0/30 has 192.0.0.2\n"));
	CHECK((strstr(list, "eth0/64 has fd00:6d65:6d62::2\n") != NULL) ==
	      ipv6);
	CHECK(has(neighbours(), "eth0 knows 192.0.0.1 at 02:01\n"));
	CHECK((strstr(list, "eth0 knows fd00:6d65:6d62::1 at 02:01\n") !=
	       NULL) == ipv6);
	CHECK(has(routes(), "eth0 type 1 table 254 scope 0 via 192.0.0.1\n"));
	CHECK((strstr(list, " via fd00:6d65:6d62::1 six\n") != NULL) == ipv6);
}

static void ends(void)
{
	for (int six = 0; six < 2; six++) {
		new_network(false);
		gate_end(six);
		CHECK(FINE(link_gate_down(&err)) && !is_up(LINK_GATE_IF));
		new_network(false);
		agent_end(six);
	}
	new_network(false);
	CHECK(link_gate_down(&err) == -ENODEV &&
	      strstr(err.text, "interface agent0"));
}

static void others(void)
{
	bool ipv6 = true;

	new_network(false);
	CHECK(FINE(link_machine_up(&err)));
	CHECK(has(addresses(), "lo/32 has 192.0.0.5\n"));
	CHECK(FINE(link_sink_up(&ipv6, &err)) && is_up(LINK_SINK_IF));
	CHECK(has(routes(), "sink type 1 table 254 scope 253\n"));
	CHECK((strstr(list, "sink type 1 table 254 scope 0 six\n") != NULL) ==
	      ipv6);
	ipv6 = false;
	new_network(false);
	CHECK(FINE(link_sink_up(&ipv6, &err)) && !ipv6);
	CHECK(!strstr(routes(), "six"));
	/* marked packets are this machine's; asked for twice, once there */
	for (int i = 0; i < 2; i++) {
		CHECK(FINE(link_tproxy_up(&err)) && is_up("lo"));
		CHECK(strcmp(listed(RTM_GETRULE, sizeof(struct fib_rule_hdr),
				    list_rule),
			     "mark 1 table 100\n") == 0);
		CHECK(has(routes(), "lo type 2 table 100 scope 0 six\n"));
	}
}

/* Docker's second interface becomes the agent's link. */
static void bridge(void)
{
	auto_rtnl struct rtnl rt = {0};
	const struct rtnl_pair p = {.name = "eth7", .other = "x", .mtu = 1399};
	struct ifreq r = {.ifr_name = "eth7"};
	struct sockaddr_in in = {.sin_family = AF_INET,
				 .sin_addr.s_addr = 0x0303010a};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	new_network(true);
	close(fd);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	CHECK(FINE(rtnl_open(&rt, 0, &err)) &&
	      FINE(rtnl_make_pair(&rt, &p, &err)));
	CHECK(FINE(rtnl_set_up(&rt, if_nametoindex("x"), true, &err)) &&
	      FINE(rtnl_set_up(&rt, if_nametoindex("eth7"), true, &err)));
	memcpy(&r.ifr_addr, &in, sizeof(r.ifr_addr));
	CHECK(ioctl(fd, SIOCSIFADDR, &r) == 0);
	close(fd);
	CHECK(FINE(link_bridge_up(true, &err)) && is_up(LINK_GATE_IF) &&
	      !if_nametoindex("eth7"));
	CHECK(has(addresses(), "agent0/29 has 192.0.0.1\n") &&
	      has(list, "agent0/64 has fd00:6d65:6d62::1\n"));
}

/* --- sets ----------------------------------------------------------------- */

static struct nftset sets;

/* nft's listing of one, without what time has a part in. */
static const char *set_of(const char *name)
{
	struct nft_ctx *ctx = nft_ctx_new(NFT_CTX_DEFAULT);
	char text[64];

	nft_ctx_buffer_output(ctx);
	nft_ctx_output_set_flags(ctx, NFT_CTX_OUTPUT_STATELESS);
	snprintf(text, sizeof(text), "list set inet membrane %s", name);
	CHECK(nft_run_cmd_from_buffer(ctx, text) == 0);
	snprintf(list, sizeof(list), "%s", nft_ctx_get_output_buffer(ctx));
	nft_ctx_free(ctx);
	return list;
}

static void run_nft(const char *command)
{
	struct nft_ctx *ctx = nft_ctx_new(NFT_CTX_DEFAULT);

	CHECK(nft_run_cmd_from_buffer(ctx, command) == 0);
	nft_ctx_free(ctx);
}

static struct nftset_elem elem(uint8_t last, uint32_t ttl_s)
{
	return (struct nftset_elem){{ADDR_V4, {11, 0, 0, last}}, 1, ttl_s};
}

static int add(uint8_t last, uint32_t ttl_s, int64_t now_ms)
{
	struct nftset_elem e = elem(last, ttl_s);

	return nftset_add(&sets, &e, 1, now_ms, &err);
}

static void begin_sets(void)
{
	new_network(false);
	memset(&sets, 0, sizeof(sets));
	CHECK(FINE(ruleset_load(STR(RULES), &err)) &&
	      FINE(nftset_open(&sets, &err)));
}

static void elements(void)
{
	begin_sets();
	CHECK(add(1, 7, 1000) == 0 && sets.n_used == 1);
	CHECK(has(set_of("host4_1"), "11.0.0.1 timeout 1m"));
	CHECK(add(2, 90, 1000) == 0 && sets.n_used == 2);
	CHECK(has(set_of("host4_1"), "11.0.0.2 timeout 1m30s"));
	/* longer: renewed; not longer: nothing is asked for */
	CHECK(add(1, 120, 1000) == 0 && sets.n_used == 2);
	CHECK(has(set_of("host4_1"), "11.0.0.1 timeout 2m"));
	run_nft("delete element inet membrane host4_1 { 11.0.0.1 }");
	CHECK(add(1, 120, 1000) == 0 && add(1, 119, 1999) == 0);
	CHECK(!strstr(set_of("host4_1"), "11.0.0.1"));
	/* it ran out of the set meanwhile, whoever it is renewed with */
	CHECK(add(1, 120, 2001) == 0 && sets.n_used == 2);
	CHECK(has(set_of("host4_1"), "11.0.0.1 timeout 2m"));
	run_nft("flush set inet membrane host4_1");
	{
		struct nftset_elem v[] = {elem(1, 300), elem(3, 60),
					  elem(2, 300)};

		CHECK(nftset_add(&sets, v, 3, 3000, &err) == 0 &&
		      sets.n_used == 3);
	}
	CHECK(has(set_of("host4_1"), "11.0.0.1 timeout 5m") &&
	      has(list, "11.0.0.2 timeout 5m") &&
	      has(list, "11.0.0.3 timeout 1m"));
	mnl_socket_close(sets.nl);
}

/* More than one message holds; and what no set is there for. */
static void many(void)
{
	struct nftset_elem v[200], other = {{ADDR_V6, {0x2a}}, 1, 60};

	begin_sets();
	for (size_t i = 0; i < 200; i++)
		v[i] = elem((uint8_t)i, 60);
	CHECK(FINE(nftset_add(&sets, v, 200, 1, &err)) && sets.n_used == 200);
	CHECK(has(set_of("host4_1"), "11.0.0.199 ") && has(list, "11.0.0.0 ") &&
	      has(list, "11.0.0.100 "));
	CHECK(nftset_add(&sets, &other, 1, 1, &err) == -ENOENT &&
	      strstr(err.text, "set element: "));
	CHECK(sets.n_used == 200);
	other = elem(201, 60);
	other.class = 2;
	CHECK(nftset_add(&sets, &other, 1, 1, &err) == -ENOENT);
	/* one that is bad is none of them */
	v[0] = elem(202, 60);
	v[1] = other;
	CHECK(nftset_add(&sets, v, 2, 1, &err) == -ENOENT);
	mnl_socket_close(sets.nl);
}

/* There is an end to what is kept in mind; what ran out is forgotten. */
static void full(void)
{
	static struct nftset_elem one = {{ADDR_V4, {12, 0, 0, 1}}, 1, 60};
	const uint32_t most = NFTSET_MIRROR / 4 * 3;

	begin_sets();
	CHECK(add(1, 60, 1) == 0);
	for (uint32_t i = 1; i < most; i++) {
		sets.mirror[i] = (struct nftset_mirror){
			.until_ms = 50000,
			.addr = {ADDR_V4,
				 {13, (uint8_t)(i >> 16), (uint8_t)(i >> 8),
				  (uint8_t)i}},
			.class = 1};
	}
	sets.n_used = most;
	CHECK(nftset_add(&sets, &one, 1, 40000, &err) == -ENFILE);
	CHECK(nftset_add(&sets, &one, 1, 51999, &err) == -ENFILE);
	CHECK(FINE(nftset_add(&sets, &one, 1, 52000, &err)));
	/* the first one is there for longer */
	CHECK(sets.n_used == 2);
	mnl_socket_close(sets.nl);
}

/* For another ruleset: the longest time of each that is not over. */
static void next_sets(void)
{
	struct addr a = {ADDR_V4, {11, 0, 0, 1}}, b = {ADDR_V6, {0x2a, 0x0e}};
	struct arena *arena = arena_new();
	struct buf text;

	buf_init(&text, arena);
	nftset_next(&sets);
	CHECK(nftset_note(&sets, &a, 1, 5000) &&
	      nftset_note(&sets, &a, 1, 4000) &&
	      nftset_note(&sets, &a, 1, 6000) && sets.n_next == 1);
	CHECK(nftset_note(&sets, &b, 3, 2000) && sets.n_next == 2);
	nftset_text(&sets, 2000, &text);
	CHECK(str_is(buf_str(&text),
		     "add element inet membrane host4_1 { 11.0.0.1 timeout "
		     "4000ms }\n"));
	text.n = 0;
	nftset_text(&sets, 1999, &text);
	CHECK(has(
		arena_cstr(arena, buf_str(&text)),
		"add element inet membrane host6_3 { 2a0e:: timeout 1ms }\n"));
	nftset_take(&sets);
	CHECK(sets.n_used == 2);
	nftset_next(&sets);
	CHECK(sets.n_next == 0);
	sets.n_next = NFTSET_MIRROR / 4 * 3;
	CHECK(!nftset_note(&sets, &a, 1, 5000));
	sets.n_next--;
	CHECK(nftset_note(&sets, &a, 1, 5000) &&
	      nftset_note(&sets, &a, 1, 5001) &&
	      !nftset_note(&sets, &b, 1, 5000));
	arena_free(arena);
}

int main(void)
{
	if (!enter_room())
		return NOT_HERE;
	ends();
	others();
	bridge();
	elements();
	many();
	full();
	next_sets();
	return check_status();
}
