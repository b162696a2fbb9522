#include "runtime/gate/wire/packet.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#define EXTENSIONS_MAX 8u

static uint16_t u16_at(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static void take_ports(const uint8_t *p, size_t n, struct packet *out)
{
	if ((out->proto != IPPROTO_TCP && out->proto != IPPROTO_UDP) || n < 4)
		return;
	out->has_port = true;
	out->sport = u16_at(p);
	out->dport = u16_at(p + 2);
}

/* RFC 791, section 3.1. */
static bool parse_v4(const uint8_t *p, size_t n, struct packet *out)
{
	size_t head = (p[0] & 15u) * 4u;

	if (head < 20 || n < head)
		return false;
	out->proto = p[9];
	out->src.family = out->dst.family = ADDR_V4;
	memcpy(out->src.b, p + 12, 4);
	memcpy(out->dst.b, p + 16, 4);
	if ((u16_at(p + 6) & 0x1fff) == 0) /* not a later fragment */
		take_ports(p + head, n - head, out);
	return true;
}

/* RFC 8200, section 4: the extension headers that may precede a port. */
static bool parse_v6(const uint8_t *p, size_t n, struct packet *out)
{
	size_t at = 40;

	if (n < at)
		return false;
	out->proto = p[6];
	out->src.family = out->dst.family = ADDR_V6;
	memcpy(out->src.b, p + 8, 16);
	memcpy(out->dst.b, p + 24, 16);
	for (unsigned i = 0; i < EXTENSIONS_MAX; i++) {
		bool fragment = out->proto == IPPROTO_FRAGMENT;

		if (!fragment && out->proto != IPPROTO_HOPOPTS &&
		    out->proto != IPPROTO_ROUTING &&
		    out->proto != IPPROTO_DSTOPTS)
			break;
		if (n - at < 8 || (fragment && u16_at(p + at + 2) >> 3))
			return true;
		out->proto = p[at];
		at += fragment ? 8u : p[at + 1] * 8u + 8u;
		if (at > n)
			return true;
	}
	take_ports(p + at, n - at, out);
	return true;
}

bool packet_parse(const uint8_t *p, size_t n, struct packet *out)
{
	*out = (struct packet){0};
	if (n < 20)
		return false;
	if (p[0] >> 4 == 4)
		return parse_v4(p, n, out);
	return p[0] >> 4 == 6 && parse_v6(p, n, out);
}

const char *packet_proto_text(uint8_t proto, char buf[8])
{
	switch (proto) {
	case IPPROTO_TCP:
		return "tcp";
	case IPPROTO_UDP:
		return "udp";
	case IPPROTO_ICMP:
		return "icmp";
	case IPPROTO_ICMPV6:
		return "icmpv6";
	case IPPROTO_SCTP:
		return "sctp";
	}
	snprintf(buf, 8, "%u", proto);
	return buf;
}
