#include "compiler/front/word/dest_parser.h"

#include "compiler/base/ascii.h"

#include <stdlib.h>
#include <string.h>

/* --- addresses and networks ---------------------------------------------- */

/* "/24" behind an address; its offset counts the slash. */
static bool prefix_len(struct dest_parser *p, const struct addr *a,
		       struct str tail, struct span part, uint8_t *out)
{
	struct str digits = str_slice(tail, 1, tail.n);
	struct addr mask;
	uint64_t bits;

	if (str_u64(digits, addr_bits(a->family), &bits) &&
	    (digits.n == 1 || digits.p[0] != '0')) {
		*out = (uint8_t)bits;
		return true;
	}
	part.beg++;
	if (digits.n == 0)
		part.beg--;
	if (digits.n)
		dest_fail(p, DIAG_PREFIX, part, "'%s' is not a prefix length",
			  dest_quote(p, digits));
	else
		dest_fail(p, DIAG_PREFIX, part, "no prefix length behind '/'");
	if (addr_parse(digits, &mask) && mask.family == a->family) {
		unsigned n = 0;

		while (n < addr_bits(a->family) &&
		       mask.b[n / 8] & (0x80 >> n % 8))
			n++;
		dest_help(p, "write the mask as a number: '/%u'", n);
	} else {
		dest_help(p, "a number from 0 to %u for IPv%u",
			  addr_bits(a->family), (unsigned)a->family);
	}
	return false;
}

static bool check_network(struct dest_parser *p, const struct addr *a,
			  struct span part, struct str tail,
			  struct span tail_part)
{
	char is[ADDR_TEXT_MAX], want[CIDR_TEXT_MAX];
	struct span whole = {part.beg, tail_part.end};
	struct ir_dest *d = &p->dest;
	struct cidr net;
	uint8_t bits;

	if (!prefix_len(p, a, tail, tail_part, &bits))
		return false;
	if (cidr_parse(arena_fmt(p->c->a, "%s/%u", addr_text(a, is), bits),
		       &net) == CIDR_HOST_BITS) {
		dest_fail(p, DIAG_HOST_BITS, whole,
			  "'%s/%u' has bits set behind its prefix", is, bits);
		dest_help(p, "the network is '%s'; the address alone is '%s'",
			  cidr_text(&net, want), is);
		return false;
	}
	d->kind = IR_DEST_CIDR;
	d->u.cidr.net = net;
	return true;
}

bool dest_network(struct dest_parser *p, struct span part, struct str tail,
		  struct span tail_part)
{
	struct ir_dest *d = &p->dest;

	if (!dest_name(p, part))
		return false;
	if (d->kind == IR_DEST_CIDR && !d->by_name)
		return check_network(p, &d->u.cidr.net.addr, part, tail,
				     tail_part);
	dest_fail(p, DIAG_PATH_WITHOUT_URL, tail_part,
		  "a path behind a bare name");
	dest_help(p, "write a URL: 'https://%s%s'",
		  dest_quote(p, str_slice(p->text.s, part.beg, part.end)),
		  dest_quote(p, tail));
	return false;
}

static bool parse_addr6(struct dest_parser *p, struct str s, struct span part,
			struct addr *out)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	char text[ADDR_TEXT_MAX];
	struct addr v4 = {.family = ADDR_V4};

	if (!addr_parse(s, out)) {
		dest_fail(p, DIAG_IPV6, part, "'%s' is not an IPv6 address",
			  dest_quote(p, s));
		dest_help(
			p,
			"eight groups of hex digits, '::' once for a run of zeros; with a port: '[2001:db8::1]:443'");
		return false;
	}
	if (out->family == ADDR_V4) {
		dest_fail(p, DIAG_IPV6, part, "an IPv4 address in brackets");
		dest_help(p, "write '%s'", dest_quote(p, s));
		return false;
	}
	if (memcmp(out->b, mapped, sizeof(mapped)) == 0) {
		memcpy(v4.b, out->b + 12, 4);
		dest_fail(p, DIAG_IPV6, part,
			  "an IPv4 address in the clothes of IPv6");
		dest_help(p, "write '%s'", addr_text(&v4, text));
		return false;
	}
	return true;
}

bool dest_addr6(struct dest_parser *p, struct str s, struct span part)
{
	struct ir_dest *d = &p->dest;
	struct cidr net = {.bits = 128};

	if (!parse_addr6(p, s, part, &net.addr))
		return false;
	if (p->is_url) {
		d->u.url.who = IR_DEST_CIDR;
		d->u.url.net = net;
	} else {
		d->kind = IR_DEST_CIDR;
		d->u.cidr.net = net;
	}
	return true;
}

bool dest_network6(struct dest_parser *p, struct str s, struct span part,
		   struct str tail, struct span tail_part)
{
	struct addr a;

	return parse_addr6(p, s, part, &a) &&
	       check_network(p, &a, (struct span){part.beg, tail_part.beg},
			     tail, tail_part);
}

void dest_bracketed_network(struct dest_parser *p, struct str s,
			    struct str tail, struct span part)
{
	dest_fail(p, DIAG_IPV6, part, "a network in brackets");
	dest_help(p, "write '%s%s', and its ports under 'ports'",
		  dest_quote(p, s), dest_quote(p, tail));
}

void dest_bare_addr6(struct dest_parser *p, struct str s, struct span part)
{
	dest_fail(p, DIAG_IPV6, part,
		  "an IPv6 address in a URL stands in brackets");
	dest_help(p, "write '[%s]'", dest_quote(p, s));
}

/* --- URLs ---------------------------------------------------------------- */

/* Ports of schemes that people copy from clone commands. */
static const struct {
	const char *scheme;
	unsigned port;
} other_schemes[] = {
	{"ssh://", 22},		 {"git://", 9418},   {"git+ssh://", 22},
	{"ftp://", 21},		 {"ws://", 80},	     {"wss://", 443},
	{"ldaps://", 636},	 {"redis://", 6379}, {"postgres://", 5432},
	{"postgresql://", 5432}, {"mysql://", 3306},
};

/* The host in the rest of a URL whose scheme we do not take. */
static struct str rest_host(struct dest_parser *p, uint32_t from)
{
	struct str rest = str_slice(p->text.s, from, p->text.s.n);
	size_t end = str_find(rest, '/', 0);
	size_t at = str_find(str_slice(rest, 0, end), '@', 0);

	rest = str_slice(rest, at < end ? at + 1 : 0, end);
	return str_slice(rest, 0, str_find(rest, ':', 0));
}

bool dest_scheme(struct dest_parser *p, struct str s, struct span part)
{
	struct ir_dest *d = &p->dest;
	struct str name = ascii_lower(p->c->a, s), host;
	bool tls = str_is(name, "https://");

	d->kind = IR_DEST_URL;
	d->u.url.scheme = tls ? IR_SCHEME_HTTPS : IR_SCHEME_HTTP;
	d->u.url.port = tls ? 443 : 80;
	if (tls || str_is(name, "http://"))
		return true;
	dest_fail(p, DIAG_SCHEME, ((struct span){part.beg, part.end - 3}),
		  "unknown scheme '%s'",
		  dest_quote(p, str_slice(s, 0, s.n - 3)));
	host = rest_host(p, part.end);
	for (size_t i = 0; i < ARRAY_LEN(other_schemes) && host.n; i++)
		if (str_is(name, other_schemes[i].scheme)) {
			dest_help(p, "grant the port instead: '%s:%u'",
				  dest_quote(p, host), other_schemes[i].port);
			return false;
		}
	if (str_distance(name, STR("https://"), 2) <= 2) {
		dest_help(p, "did you mean 'https'?");
		return false;
	}
	dest_help(
		p,
		"only 'http' and 'https' have rules; anything else is granted by host and port, as in 'example.com:22'");
	return false;
}

bool dest_url_name(struct dest_parser *p, struct span part)
{
	struct ir_url url = p->dest.u.url;
	struct ir_dest *d = &p->dest;

	if (!dest_name(p, part))
		return false;
	switch (d->kind) {
	case IR_DEST_HOST:
		url.name = d->u.host.name;
		break;
	case IR_DEST_PATTERN:
		url.name = d->u.pattern.name;
		break;
	case IR_DEST_CIDR:
		url.net = d->u.cidr.net;
		break;
	case IR_DEST_ANY:
		dest_fail(p, DIAG_DEST, part, "a URL for every host");
		dest_help(p, "write '*' with 'http' rules, or name the host");
		return false;
	case IR_DEST_POISON:
	case IR_DEST_URL:
		/* A name is neither. */
		abort();
	}
	url.who = d->kind;
	d->kind = IR_DEST_URL;
	d->u.url = url;
	return true;
}

bool dest_url_port(struct dest_parser *p, struct span part)
{
	struct span at = part;

	/* Behind a '/' stands its path: it has no protocol. */
	if (p->port.lo == p->port.hi) {
		p->dest.u.url.port = p->port.lo;
		return true;
	}
	dest_fail(p, DIAG_PORT, at, "a URL has one TCP port");
	dest_help(p, "write one entry per port");
	return false;
}

bool dest_url_path(struct dest_parser *p, struct str path, struct span part)
{
	p->dest.u.url.path = path;
	p->dest.u.url.path_at = text_at(&p->text, part);
	return dest_path_check(p->c, &p->text, part);
}

void dest_url_root(struct dest_parser *p, struct span part)
{
	p->dest.u.url.path = STR("/");
	p->dest.u.url.path_at = text_at(&p->text, part);
}

/* --- ports --------------------------------------------------------------- */

static bool port_number(struct dest_parser *p, struct str s, struct span part,
			uint16_t *out)
{
	uint64_t v;

	if (!str_u64(s, 65535, &v) || v == 0) {
		dest_fail(p, DIAG_PORT, part, "port '%s' is out of range",
			  dest_quote(p, s));
		dest_help(p, "a port is 1 to 65535");
		return false;
	}
	if (s.p[0] == '0') {
		dest_fail(p, DIAG_PORT, part, "a leading zero in port '%s'",
			  dest_quote(p, s));
		dest_help(p, "write '%u'", (unsigned)v);
		return false;
	}
	*out = (uint16_t)v;
	return true;
}

bool dest_range(struct dest_parser *p, struct str lo, struct span lo_part,
		struct str hi, struct span hi_part)
{
	struct span whole = {lo_part.beg, hi_part.end};

	if (!port_number(p, lo, lo_part, &p->port.lo) ||
	    !port_number(p, hi, hi_part, &p->port.hi))
		return false;
	p->port.proto = IR_PROTO_TCP;
	p->port.at = text_at(&p->text, whole);
	if (p->port.lo <= p->port.hi)
		return true;
	dest_fail(p, DIAG_PORT, whole, "a port range that runs backwards");
	dest_help(p, "write '%u-%u'", p->port.hi, p->port.lo);
	return false;
}

bool dest_proto(struct dest_parser *p, struct str tail, struct span part)
{
	struct str name = ascii_lower(p->c->a, str_slice(tail, 1, tail.n));

	if (str_is(name, "tcp") || str_is(name, "udp")) {
		p->port.proto = name.p[0] == 'u' ? IR_PROTO_UDP : IR_PROTO_TCP;
		p->port.at.end = text_at(&p->text, part).end;
		return true;
	}
	part.beg++;
	if (name.n == 0)
		part.beg--;
	if (name.n)
		dest_fail(p, DIAG_PROTO, part, "unknown protocol '%s'",
			  dest_quote(p, str_slice(tail, 1, tail.n)));
	else
		dest_fail(p, DIAG_PROTO, part, "no protocol behind '/'");
	if (p->dest.kind == IR_DEST_HOST || p->dest.kind == IR_DEST_PATTERN)
		dest_help(
			p,
			"'tcp' or 'udp'; for a path write a URL: 'https://%s'",
			dest_quote(p, p->text.s));
	else
		dest_help(p, "'tcp' or 'udp'; nothing else passes the gate");
	return false;
}

void dest_port_moves(struct dest_parser *p)
{
	p->dest.has_port = true;
	p->dest.port = p->port;
}
