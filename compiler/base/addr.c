#include "compiler/base/addr.h"

#include "compiler/base/agent_link.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

uint8_t addr_bits(enum addr_family family)
{
	return family == ADDR_V4 ? 32 : 128;
}

static size_t addr_bytes(const struct addr *a)
{
	return addr_bits(a->family) / 8u;
}

bool addr_parse(struct str text, struct addr *out)
{
	struct addr a = {0};
	char z[ADDR_TEXT_MAX];

	if (text.n == 0 || text.n >= sizeof(z) || memchr(text.p, 0, text.n))
		return false;
	memcpy(z, text.p, text.n);
	z[text.n] = '\0';
	a.family = strchr(z, ':') ? ADDR_V6 : ADDR_V4;
	if (inet_pton(a.family == ADDR_V6 ? AF_INET6 : AF_INET, z, a.b) != 1)
		return false;
	*out = a;
	return true;
}

/* Clear what lies behind the prefix; true when something was set. */
static bool clear_host_bits(struct addr *a, uint8_t bits)
{
	bool any = false;

	for (size_t i = 0; i < addr_bytes(a); i++) {
		unsigned keep = bits > i * 8 ? bits - (unsigned)i * 8 : 0;
		uint8_t mask = (uint8_t)(keep >= 8 ? 0xffu : 0xff00u >> keep);

		any |= (a->b[i] & ~mask & 0xff) != 0;
		a->b[i] = (uint8_t)(a->b[i] & mask);
	}
	return any;
}

enum cidr_fault cidr_parse(struct str text, struct cidr *out)
{
	size_t slash = str_find(text, '/', 0);
	struct cidr c;
	uint64_t bits;

	if (!addr_parse(str_slice(text, 0, slash), &c.addr))
		return CIDR_BAD_ADDRESS;
	bits = addr_bits(c.addr.family);
	if (slash < text.n &&
	    (!str_u64(str_slice(text, slash + 1, text.n), bits, &bits) ||
	     (text.p[slash + 1] == '0' && text.n > slash + 2)))
		return CIDR_BAD_BITS;
	c.bits = (uint8_t)bits;
	if (clear_host_bits(&c.addr, c.bits)) {
		*out = c;
		return CIDR_HOST_BITS;
	}
	*out = c;
	return CIDR_OK;
}

const char *addr_text(const struct addr *a, char buf[ADDR_TEXT_MAX])
{
	inet_ntop(a->family == ADDR_V6 ? AF_INET6 : AF_INET, a->b, buf,
		  ADDR_TEXT_MAX);
	return buf;
}

const char *cidr_text(const struct cidr *c, char buf[CIDR_TEXT_MAX])
{
	size_t n;

	addr_text(&c->addr, buf);
	n = strlen(buf);
	snprintf(buf + n, CIDR_TEXT_MAX - n, "/%u", c->bits);
	return buf;
}

int addr_cmp(const struct addr *a, const struct addr *b)
{
	if (a->family != b->family)
		return a->family < b->family ? -1 : 1;
	return memcmp(a->b, b->b, sizeof(a->b));
}

bool addr_eq(const struct addr *a, const struct addr *b)
{
	return addr_cmp(a, b) == 0;
}

int cidr_cmp(const struct cidr *a, const struct cidr *b)
{
	int c = addr_cmp(&a->addr, &b->addr);

	return c ? c : (int)a->bits - (int)b->bits;
}

bool cidr_has(const struct cidr *c, const struct addr *a)
{
	size_t whole = c->bits / 8;
	unsigned rest = c->bits % 8;

	if (c->addr.family != a->family || memcmp(c->addr.b, a->b, whole) != 0)
		return false;
	return rest == 0 || (c->addr.b[whole] ^ a->b[whole]) >> (8 - rest) == 0;
}

bool addr_mapped(const struct addr *a, struct addr *out_v4)
{
	static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};

	if (a->family != ADDR_V6 || memcmp(a->b, prefix, sizeof(prefix)) != 0)
		return false;
	*out_v4 = (struct addr){.family = ADDR_V4};
	memcpy(out_v4->b, a->b + sizeof(prefix), 4);
	return true;
}

bool cidr_covers(const struct cidr *outer, const struct cidr *inner)
{
	return outer->bits <= inner->bits && cidr_has(outer, &inner->addr);
}

/*
 * Where two rows have the same address, the stricter one counts. What wraps
 * IPv4 addresses behind no prefix that is known beforehand is judged as the
 * worst that it may hold.
 */
static const struct special {
	const char *text;
	enum addr_scope scope;
	const char *about;
} specials[] = {
	{"0.0.0.0/8", ADDR_NEVER, "this network, RFC 791"},
	{"10.0.0.0/8", ADDR_PRIVATE, "private, RFC 1918"},
	{"100.64.0.0/10", ADDR_PRIVATE, "carrier-grade NAT, RFC 6598"},
	{"127.0.0.0/8", ADDR_NEVER, "loopback, RFC 1122"},
	{"169.254.0.0/16", ADDR_NEVER, "link-local, RFC 3927"},
	{"172.16.0.0/12", ADDR_PRIVATE, "private, RFC 1918"},
	{"192.0.0.0/24", ADDR_PRIVATE, "protocol assignments, RFC 6890"},
	{LINK_SUBNET_V4, ADDR_NEVER, "the gate's own link, RFC 7335"},
	{"192.168.0.0/16", ADDR_PRIVATE, "private, RFC 1918"},
	{"198.18.0.0/15", ADDR_PRIVATE, "benchmarking, RFC 2544"},
	{"224.0.0.0/4", ADDR_NEVER, "multicast, RFC 5771"},
	{"240.0.0.0/4", ADDR_NEVER, "reserved and broadcast, RFC 1112"},
	{"::/128", ADDR_NEVER, "unspecified, RFC 4291"},
	{"::1/128", ADDR_NEVER, "loopback, RFC 4291"},
	{"::ffff:0:0/96", ADDR_NEVER, "IPv4-mapped, RFC 4291"},
	{"64:ff9b:1::/48", ADDR_NEVER, "local-use NAT64, RFC 8215"},
	{"2001::/32", ADDR_NEVER, "Teredo, RFC 4380"},
	{"2001:2::/48", ADDR_PRIVATE, "benchmarking, RFC 5180"},
	{"5f00::/16", ADDR_PRIVATE, "segment routing, RFC 9602"},
	{"fc00::/7", ADDR_PRIVATE, "unique-local, RFC 4193"},
	{LINK_SUBNET_V6, ADDR_NEVER, "the gate's own link"},
	{"fe80::/10", ADDR_NEVER, "link-local, RFC 4291"},
	{"fec0::/10", ADDR_PRIVATE, "site-local, RFC 3879"},
	{"ff00::/8", ADDR_NEVER, "multicast, RFC 4291"},
};

/* Where the IPv4 address lies in the IPv6 forms that wrap one. */
static const struct wrap {
	uint8_t prefix[12];
	uint8_t bytes; /* of the prefix; the IPv4 address follows */
	const char *about;
} wraps[] = {
	{{0, 0x64, 0xff, 0x9b}, 12, "in NAT64, RFC 6052"},
	{{0}, 12, "IPv4-compatible, RFC 4291"},
	{{[8] = 0xff, 0xff}, 12, "IPv4-translated, RFC 2765"},
	{{0x20, 0x02}, 2, "in 6to4, RFC 3056"},
};

bool cidr_wrapped(size_t i, const struct cidr *v4, struct cidr *out)
{
	const struct wrap *w = &wraps[i];
	struct cidr c = {.addr.family = ADDR_V6};

	if (i >= ARRAY_LEN(wraps) || v4->addr.family != ADDR_V4)
		return false;
	memcpy(c.addr.b, w->prefix, w->bytes);
	memcpy(c.addr.b + w->bytes, v4->addr.b, 4);
	c.bits = (uint8_t)(w->bytes * 8 + v4->bits);
	*out = c;
	return true;
}

bool addr_wrapped(const struct addr *a, struct addr *out_v4)
{
	if (a->family != ADDR_V6)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(wraps); i++) {
		const struct wrap *w = &wraps[i];

		if (memcmp(a->b, w->prefix, w->bytes) != 0)
			continue;
		*out_v4 = (struct addr){.family = ADDR_V4};
		memcpy(out_v4->b, a->b + w->bytes, 4);
		return true;
	}
	return false;
}

#define ROWS_MAX (ARRAY_LEN(specials) * (1 + ARRAY_LEN(wraps)))

static struct {
	struct addr_special row[ROWS_MAX];
	char about[ROWS_MAX][80];
	size_t n;
} table;

static void add_row(const struct cidr *net, enum addr_scope scope,
		    const char *about, const char *wrapped)
{
	char *text = table.about[table.n];

	snprintf(text, sizeof(table.about[0]), "%s%s%s", about,
		 *wrapped ? ", " : "", wrapped);
	table.row[table.n++] =
		(struct addr_special){*net, scope, *wrapped != '\0', text};
}

/* The rows as they are written, then those of IPv4 as each form wraps them. */
static void make_table(void)
{
	for (size_t i = 0; i < ARRAY_LEN(specials); i++) {
		struct cidr net;

		cidr_parse(str_of(specials[i].text), &net);
		add_row(&net, specials[i].scope, specials[i].about, "");
	}
	for (size_t i = 0; i < ARRAY_LEN(specials); i++) {
		struct cidr net = table.row[i].net, c;

		for (size_t k = 0; cidr_wrapped(k, &net, &c); k++)
			add_row(&c, specials[i].scope, specials[i].about,
				wraps[k].about);
	}
}

const struct addr_special *addr_special(size_t i)
{
	if (!table.n)
		make_table();
	return i < table.n ? &table.row[i] : NULL;
}

enum addr_scope addr_scope(const struct addr *a)
{
	enum addr_scope scope = ADDR_PUBLIC;
	const struct addr_special *s;
	struct addr inner;

	for (size_t i = 0; i < ARRAY_LEN(specials); i++) {
		s = addr_special(i);
		if (s->scope > scope && cidr_has(&s->net, a))
			scope = s->scope;
	}
	if (scope != ADDR_NEVER && addr_wrapped(a, &inner)) {
		enum addr_scope wrapped = addr_scope(&inner);

		scope = wrapped > scope ? wrapped : scope;
	}
	return scope;
}

bool addr_may_resolve(const struct addr *a)
{
	struct cidr link_local;

	cidr_parse(STR("169.254.0.0/16"), &link_local);
	return addr_scope(a) != ADDR_NEVER || cidr_has(&link_local, a);
}

bool addr_is_loopback(const struct addr *a)
{
	static const struct cidr nets[] = {
		{{ADDR_V4, {127}}, 8},
		{{ADDR_V6, {[15] = 1}}, 128},
	};

	return cidr_has(&nets[0], a) || cidr_has(&nets[1], a);
}

const struct addr_special *addr_never_around(const struct cidr *net)
{
	const struct addr_special *s, *best = NULL;

	for (size_t i = 0; (s = addr_special(i)); i++)
		if (s->scope == ADDR_NEVER && cidr_covers(&s->net, net) &&
		    (!best || s->net.bits > best->net.bits))
			best = s;
	return best;
}

bool addr_step_up(struct addr *a)
{
	struct addr next = *a;

	for (size_t i = addr_bytes(a); i-- > 0;)
		if (++next.b[i] != 0) {
			*a = next;
			return true;
		}
	return false;
}

bool addr_step_down(struct addr *a)
{
	struct addr next = *a;

	for (size_t i = addr_bytes(a); i-- > 0;)
		if (next.b[i]-- != 0) {
			*a = next;
			return true;
		}
	return false;
}

struct addr cidr_last(const struct cidr *c)
{
	struct addr a = c->addr;

	for (unsigned bit = c->bits; bit < addr_bits(a.family); bit++)
		a.b[bit / 8] |= (uint8_t)(0x80u >> (bit % 8));
	return a;
}

bool addr_is_machine(const struct addr *a)
{
	struct addr machine;

	return addr_parse(STR(LINK_MACHINE_V4), &machine) &&
	       addr_eq(a, &machine);
}

bool cidr_is_machine(const struct cidr *c)
{
	return c->bits == addr_bits(ADDR_V4) && addr_is_machine(&c->addr);
}

bool addr_names_machine(struct str name)
{
	return str_is(name, LINK_MACHINE_NAME) ||
	       str_is(name, LINK_MACHINE_ALIAS);
}
