/*
 * The head of an IP packet, as NFLOG hands it over: who wants to go where.
 *
 * Pure; any bytes are safe.
 */
#ifndef RUNTIME_GATE_WIRE_PACKET_H
#define RUNTIME_GATE_WIRE_PACKET_H

#include "compiler/base/addr.h"

struct packet {
	uint8_t proto; /* IPPROTO_*: what lies behind IPv6 extensions */
	bool has_port; /* TCP or UDP, whole enough to tell */
	uint16_t sport, dport;
	struct addr src, dst;
};

/* False when not even the IP header is whole. */
bool packet_parse(const uint8_t *p, size_t n, struct packet *out);
/* "tcp", "icmp", ... or its number. */
const char *packet_proto_text(uint8_t proto, char buf[8]);

#endif
