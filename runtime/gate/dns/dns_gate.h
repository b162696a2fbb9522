/*
 * The session's resolver: UDP and TCP towards the agent, one upstream.
 *
 * Decides with names.h, understands messages with dns_msg.h, asks with
 * upstream.h, and opens addresses with nftset.h before their answer leaves.
 * What was answered lately (answers.h) is not asked again, but judged and
 * opened all the same.
 * Never waits: the caller polls what dns_gate_poll() lists.
 *
 * Exact names are resolved once at the start, in the background. A name is
 * renewed shortly before its elements run out if it was in use since it was
 * last resolved: the agent asked for it, or opened a permitted connection to
 * one of its addresses.
 */
#ifndef RUNTIME_GATE_DNS_DNS_GATE_H
#define RUNTIME_GATE_DNS_DNS_GATE_H

#include "runtime/gate/dns/answers.h"
#include "runtime/gate/dns/dns_client.h"
#include "runtime/gate/dns/resolved.h"
#include "runtime/gate/dns/upstream.h"
#include "runtime/gate/l7/pins.h"
#include "runtime/gate/onward/standins.h"
#include "runtime/gate/packet/nftset.h"
#include "runtime/gate/plan/names.h"
#include "runtime/gate/record/record.h"

#define DNS_GATE_PORT	   53
#define DNS_GATE_LISTENERS 5u	 /* UDP and TCP, IPv4 and IPv6; HAProxy's */
#define DNS_GATE_OWN	   4u	 /* that one */
#define DNS_GATE_CLIENTS   32u	 /* TCP connections of the agent */
#define DNS_GATE_FLIGHTS   256u	 /* questions on their way */
#define DNS_GATE_RENEWALS  8u	 /* of them, at most that many of our own */
#define DNS_GATE_NAMES	   1024u /* exact names resolved at the start */
#define DNS_GATE_TICK_MS   1000
#define DNS_GATE_POLL	   (DNS_GATE_LISTENERS + DNS_GATE_CLIENTS + DNS_GATE_FLIGHTS)

enum dns_flight_from {
	DNS_FROM_UDP,
	DNS_FROM_TCP,
	DNS_FROM_US,  /* a renewal */
	DNS_FROM_ASK, /* a person said yes to it */
	DNS_FROM_PROXY, /* HAProxy, for whoever called the gate by that name */
};

struct dns_flight {
	bool recalled; /* by what was kept of an earlier answer */
	bool outdated; /* asked before the plan became another */
	enum dns_flight_from from;
	int listener; /* fd, for UDP */
	struct sockaddr_storage peer;
	socklen_t peer_n;
	uint32_t client, generation; /* for TCP */
	struct dns_query q;
	struct names_match match;
	struct upstream up;
};

struct dns_gate {
	/* Borrowed, set by the caller with the rest zeroed. */
	const struct names_map *names;
	const struct names_hosts *hosts;
	struct nftset *sets; /* NULL: there is no packet filter */
	/* Where granted names lead to for the agent, one of each family at
	 * most: to the gate, which goes on from there. None: to themselves. */
	const struct addr *door;
	uint32_t n_door;
	uint16_t proxy_port; /* then: HAProxy asks there, on loopback */
	struct resolved *seen;
	struct pins *pins;
	struct standins *standins; /* where names->proxied, or some are asked
				    * about */
	/* Takes what happened; time is filled in there. */
	void (*on_record)(void *data, const struct record *r);
	/* Takes what the agent was told, just before it is; likewise. */
	void (*on_answer)(void *data, const struct record_answer *r);
	void (*on_error)(void *data, const char *message);
	/* dns_gate_find(): an address that may be reached; NULL: none. */
	void (*on_found)(void *data, const char *name, bool private_ok,
			 const struct addr *addr);
	void *data;
	bool ipv6;
	int broker; /* upstream_init() */

	struct addr agent4, agent6; /* nobody else gets an answer; but where
				     * there is a door, whoever gets there */
	int listeners[DNS_GATE_LISTENERS]; /* -1: none */
	struct dns_client clients[DNS_GATE_CLIENTS];
	struct dns_client_room rooms[DNS_GATE_CLIENTS];
	struct dns_flight flights[DNS_GATE_FLIGHTS];
	/* Beside them, each of which has pages of its own: who polls looks at
	 * all of these, and at none of those that are not on their way. */
	bool live[DNS_GATE_FLIGHTS];
	struct answers kept;
	unsigned n_live, n_renewals;
	uint32_t next_exact; /* name to resolve next at the start, twice: */
	bool next_aaaa;	     /* A, then AAAA */
	int64_t tick_ms;
};

/* The two ends of the agent's link, in one family; agent: NULL where there is a
 * door. */
struct dns_gate_ends {
	const char *gate, *agent;
};
/* Bind to the gate's address; v6 may be NULL. -EADDRINUSE and the like. */
must_check int dns_gate_open(struct dns_gate *g, const struct dns_gate_ends *v4,
			     const struct dns_gate_ends *v6, struct err *err);
/*
 * *names is another map now. Questions on their way are held against that;
 * exact names are resolved as at the start, and nothing stays of what the
 * upstream said before.
 */
void dns_gate_changed(struct dns_gate *g);
/*
 * Ask for an IPv4 address of a name, match: what permits that; then on_found(),
 * perhaps before this returns. A change of *names ends it without a word.
 */
void dns_gate_find(struct dns_gate *g, const char *name,
		   const struct names_match *match, int64_t now_ms);
/* Fill exactly DNS_GATE_POLL entries. */
void dns_gate_poll(struct dns_gate *g, struct pollfd *p);
/* After poll, with the same entries. */
void dns_gate_step(struct dns_gate *g, const struct pollfd *p, int64_t now_ms);
/* How long poll may wait at most. */
int dns_gate_wait_ms(const struct dns_gate *g, int64_t now_ms);

#endif
