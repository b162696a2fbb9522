/*
 * Addresses and networks of both IP families, in network byte order.
 *
 * Text is inet_pton(3)'s and inet_ntop(3)'s (RFC 5952): the only spelling that
 * artefacts hold. An IPv4-mapped IPv6 address is kept as IPv6.
 */
#ifndef COMPILER_BASE_ADDR_H
#define COMPILER_BASE_ADDR_H

#include "compiler/base/str.h"

enum addr_family {
	ADDR_V4 = 4,
	ADDR_V6 = 6,
};

struct addr {
	enum addr_family family;
	uint8_t b[16]; /* 4 or 16 of them; the rest is zero */
};

struct cidr {
	struct addr addr; /* host bits are zero */
	uint8_t bits;	  /* 0 to 32 or 128 */
};

#define ADDR_TEXT_MAX 46
#define CIDR_TEXT_MAX (ADDR_TEXT_MAX + 4)

enum cidr_fault {
	CIDR_OK,
	CIDR_BAD_ADDRESS,
	CIDR_BAD_BITS,
	CIDR_HOST_BITS, /* *out holds the network with them cleared */
};

bool addr_parse(struct str text, struct addr *out);
/* "192.0.2.1" is /32, "192.0.2.0/24", "2001:db8::/32". */
enum cidr_fault cidr_parse(struct str text, struct cidr *out);
uint8_t addr_bits(enum addr_family family); /* 32 or 128 */
const char *addr_text(const struct addr *a, char buf[ADDR_TEXT_MAX]);
/* The prefix length is always written. */
const char *cidr_text(const struct cidr *c, char buf[CIDR_TEXT_MAX]);
bool addr_eq(const struct addr *a, const struct addr *b);
/* IPv4 first, then bytewise; networks: then shorter prefixes first. */
int addr_cmp(const struct addr *a, const struct addr *b);
int cidr_cmp(const struct cidr *a, const struct cidr *b);
bool cidr_has(const struct cidr *c, const struct addr *a);
/* The IPv4 address of "::ffff:192.0.2.1"; false for any other. */
bool addr_mapped(const struct addr *a, struct addr *out_v4);
bool cidr_covers(const struct cidr *outer, const struct cidr *inner);

/*
 * What an address is, for names: doc/semantics.md, section 3. Special purposes
 * after RFC 6890 and the IANA registries it set up. An IPv6 address that wraps
 * one of IPv4 (NAT64, 6to4, IPv4-compatible, IPv4-translated) is what it wraps:
 * whoever undoes it sends the packets there.
 */
enum addr_scope {
	ADDR_PUBLIC,
	ADDR_PRIVATE, /* RFC 1918, CGNAT, unique-local, benchmarking, … */
	ADDR_NEVER,   /* unspecified, loopback, link-local, multicast,
			 broadcast, reserved, the gate's own links, and what may
			 wrap such an address and does not say where */
};
enum addr_scope addr_scope(const struct addr *a);
/*
 * Seen from the gate, loopback is the gate: 127.0.0.53, which many hosts ask,
 * is no resolver there. Link-local is where some clouds have theirs.
 */
bool addr_may_resolve(const struct addr *a);
/* 127.0.0.0/8 and ::1, and no address that wraps one of them. */
bool addr_is_loopback(const struct addr *a);

/*
 * The networks behind addr_scope(), those that wrap others included; NULL at
 * the end. Of those that overlap the strictest counts.
 */
struct addr_special {
	struct cidr net;
	enum addr_scope scope;
	bool wraps;	   /* it is such a form of another */
	const char *about; /* "loopback, RFC 1122, in NAT64, RFC 6052" */
};
const struct addr_special *addr_special(size_t i);
/* The longest of scope ADDR_NEVER that holds all of a network, or NULL. */
const struct addr_special *addr_never_around(const struct cidr *net);

/* The IPv4 address that an IPv6 address wraps; ::ffff:192.0.2.1 wraps none. */
bool addr_wrapped(const struct addr *a, struct addr *out_v4);
/* A network of IPv4 as form i wraps it, from 0; false at the end, and of any
 * other network. */
bool cidr_wrapped(size_t i, const struct cidr *v4, struct cidr *out);

/* Is it LINK_MACHINE_V4: agent_link.h; is it that alone? */
bool addr_is_machine(const struct addr *a);
bool cidr_is_machine(const struct cidr *c);
/* "host", or its other name. */
bool addr_names_machine(struct str name);

/* One step up or down; false, and nothing done, at the end of the family. */
bool addr_step_up(struct addr *a);
bool addr_step_down(struct addr *a);
/* The highest address of a network. */
struct addr cidr_last(const struct cidr *c);

#endif
