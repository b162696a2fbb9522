/*
 * ruleset.nft, read and walked: what the packet filter does with one packet.
 *
 * The reader takes the bytes of the artefact, in exactly the language that
 * compiler/emit/nft writes, and refuses every word, order and blank that it
 * does not know: what was edited by hand is understood wholly or not at all. It
 * shares nothing with the emitter but the names of what the gate fills in.
 *
 * The evaluator is the kernel's part as nft(8) has it: base chains by hook and
 * priority, verdicts, chains of their own, sets, marks, NAT of a first packet.
 * The kernel itself, and how it routes, are what it stands for.
 */
#ifndef COMPILER_PROVE_FIREWALL_H
#define COMPILER_PROVE_FIREWALL_H

#include "compiler/base/addr.h"
#include "compiler/base/arena.h"

/* What a rule can look at; each is a number here. */
enum firewall_key {
	FIREWALL_IIF,
	FIREWALL_OIF,
	FIREWALL_FAMILY,
	FIREWALL_PROTO,
	FIREWALL_DPORT,
	FIREWALL_STATE,
	FIREWALL_STATUS,
	FIREWALL_DIRECTION,
	FIREWALL_PKTTYPE,
	FIREWALL_MARK,
	FIREWALL_UID,
	FIREWALL_ICMP_TYPE,
	FIREWALL_ICMP_CODE,
	FIREWALL_HEADER,  /* words of IPv4's header */
	FIREWALL_ROUTING, /* 1: a routing header of IPv6's */
	FIREWALL_HOPS,
	FIREWALL_LENGTH,      /* of UDP, with its header */
	FIREWALL_BYTE,	      /* the first byte of a datagram */
	FIREWALL_VERSION,     /* the four behind it */
	FIREWALL_ID_LENGTH,   /* the one behind those */
	FIREWALL_OLD_VERSION, /* four behind nine: Google's first QUIC */
	FIREWALL_SOCKET,      /* 1: a transparent socket of ours has it */
	FIREWALL_FLOOD,	      /* 1: one of very many */
	FIREWALL_KEYS,
};
#define FIREWALL_NONE UINT32_MAX /* the packet has no such thing */

enum firewall_iface { FIREWALL_LO = 1, FIREWALL_AGENT, FIREWALL_UPLINK };
enum firewall_state {
	FIREWALL_NEW = 1,
	FIREWALL_ESTABLISHED,
	FIREWALL_RELATED,
	FIREWALL_INVALID,
};
enum firewall_direction { FIREWALL_ORIGINAL = 1, FIREWALL_REPLY };
#define FIREWALL_DNAT  1u
#define FIREWALL_TO_US 1u /* pkttype host */

struct firewall_span {
	uint32_t lo, hi;
};
typedef VEC(struct firewall_span) firewall_spans;

struct firewall_range {
	struct addr lo, hi;
};

/* Addresses that rules speak of: a set, or what a rule has written out. */
struct firewall_term {
	struct str name; /* of a set; else empty */
	enum addr_family family;
	uint32_t line;
	bool filled;	/* by the resolver */
	bool pairs;	/* addresses with ports: the gate's to fill */
	uint32_t class; /* of what is filled: names.h; 0: the gate does */
	bool used;	/* a rule speaks of it */
	VEC(struct firewall_range) list; /* ascending, apart */
};

struct firewall_match {
	enum firewall_key key;
	bool not ;
	bool of_addr, of_source; /* of_addr: by term, and not by key */
	uint32_t term;
	uint32_t mask; /* of the bits that are looked at */
	/* What has to be so besides, or the rule does not hold; 0: nothing. */
	uint32_t family, proto;
	firewall_spans spans;
};

enum firewall_end {
	FIREWALL_GOES_ON, /* to the next rule */
	FIREWALL_ACCEPT,
	FIREWALL_DROP,
	FIREWALL_REJECT,
	FIREWALL_JUMP,
	FIREWALL_GOTO,
	FIREWALL_REDIRECT, /* to a port of the gate's */
	FIREWALL_TO_AGENT, /* dnat */
	FIREWALL_MASQUERADE,
};

struct firewall_rule {
	uint32_t line;
	struct str text;
	VEC(struct firewall_match) matches;
	struct str reason; /* of its log, without what stands before it */
	uint32_t tproxy;   /* a port of the gate's, or 0 */
	uint32_t mark;	   /* that it gives the packet, or 0 */
	enum firewall_end end;
	uint32_t port;	/* of redirect */
	struct str to;	/* the chain of jump and goto */
	uint32_t chain; /* which that is */
};

enum firewall_hook {
	FIREWALL_NO_HOOK,
	FIREWALL_PREROUTING,
	FIREWALL_INPUT,
	FIREWALL_FORWARD,
	FIREWALL_OUTPUT,
	FIREWALL_POSTROUTING,
};

struct firewall_chain {
	struct str name;
	uint32_t line;
	enum firewall_hook hook;
	bool nat, drops;
	int priority;
	VEC(struct firewall_rule) rules;
};

struct firewall {
	VEC(struct firewall_term) terms;
	VEC(struct firewall_chain) chains;
	VEC(uint32_t) order; /* base chains, by hook and priority */
};

/* Why a text is no ruleset: "line 12: a word that no rule has: 'snat'". */
struct firewall_fault {
	uint32_t line;
	struct str text, what;
};
/* text is borrowed. False, with *fault, where it is not one. */
must_check bool firewall_read(struct arena *a, struct str text,
			      struct firewall *out,
			      struct firewall_fault *fault);
/* The term of that set, or NULL. */
const struct firewall_term *firewall_set(const struct firewall *f,
					 const char *name);
bool firewall_term_has(const struct firewall_term *t, const struct addr *addr);

/* Is an address in a term? By the caller, who knows what was filled in. */
typedef bool (*firewall_member)(const void *ctx, uint32_t term);

struct firewall_packet {
	uint32_t v[FIREWALL_KEYS]; /* FIREWALL_NONE: it has none */
	firewall_member to, from;  /* destination and source */
	const void *ctx;
};

#define FIREWALL_STEPS 12u
struct firewall_result {
	enum firewall_end
		end;	   /* ACCEPT, DROP or REJECT; or REDIRECT, TO_AGENT */
	struct str reason; /* of the last log on the way; empty: none */
	uint32_t port;	   /* of REDIRECT, or of tproxy, or 0 */
	/* Rules with a verdict that held, in order. */
	const struct firewall_rule *steps[FIREWALL_STEPS];
	uint32_t n;
};
/*
 * The chains of one hook, in their order. A mark that a rule gives is in the
 * packet afterwards. NAT is for first packets alone.
 */
void firewall_run(const struct firewall *f, enum firewall_hook hook,
		  struct firewall_packet *p, struct firewall_result *out);

#endif
