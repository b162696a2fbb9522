/*
 * DNS messages: what the agent asks, what the upstream says, what goes back.
 *
 * Pure, on ldns. Answers are rebuilt from the records that belong to the
 * question (RFC 1034 CNAME chain), never copied. Which names are granted and
 * which addresses may stay is for the caller, between dns_msg_answer() and
 * dns_msg_reply().
 */
#ifndef RUNTIME_GATE_WIRE_DNS_MSG_H
#define RUNTIME_GATE_WIRE_DNS_MSG_H

#include "compiler/base/addr.h"
#include "compiler/base/limits.h"

#include <ldns/ldns.h>

#define DNS_MSG_UDP_MIN	  512u	/* RFC 1035 */
#define DNS_MSG_UDP_MAX	  1232u /* what fits any path unfragmented */
#define DNS_MSG_MAX	  65535u
#define DNS_MSG_QUERY_MAX 1024u /* longer ones are no plain question */
#define DNS_MSG_QNAME_MAX 255u	/* wire form, RFC 1035 */
#define DNS_MSG_ADDRS_MAX 64u	/* further ones are left out of an answer */
#define DNS_MSG_RRS_MAX	  256u	/* records in one answer */
#define DNS_MSG_CHAIN_MAX 16u	/* CNAMEs in one answer */
#define DNS_MSG_TTL_MAX_S 86400u

struct dns_query {
	uint16_t id;
	uint16_t type;
	uint16_t udp_max; /* bytes the client takes by UDP */
	bool rd, edns;
	bool has_question; /* qname is set, and goes back with the reply */
	uint8_t qname[DNS_MSG_QNAME_MAX]; /* wire form, as the client spelt it
					   */
	uint16_t qname_n;
	/* Lower case, no trailing dot; empty when no host name could be it. */
	char name[LIMIT_NAME_BYTES + 1];
};

enum dns_msg_todo {
	DNS_MSG_ASK,	/* a question that may be forwarded */
	DNS_MSG_REFUSE, /* reply with *out_rcode, *out is good for that */
	DNS_MSG_DROP,	/* no reply: not a query at all */
};

/*
 * Read a client's message. DNS_MSG_ASK promises: one question, class IN,
 * opcode QUERY, nothing after it but an OPT record.
 */
enum dns_msg_todo dns_msg_query(const uint8_t *wire, size_t n,
				struct dns_query *out,
				ldns_pkt_rcode *out_rcode);

#define DNS_MSG_NAME_TEXT_MAX (4u * DNS_MSG_QNAME_MAX)
/*
 * The name that is asked for, for people, without its last dot: as in a master
 * file, so that a byte that is no letter of a host name is \DDD, a dot within a
 * label \. (RFC 1035, 5.1), and no two names look alike. The root is ".".
 */
void dns_msg_name_text(const struct dns_query *q,
		       char out[DNS_MSG_NAME_TEXT_MAX]);

/* Is it one of those of doc/semantics.md, section 4? */
bool dns_msg_type_served(uint16_t type);
/* "A"; "TYPE10" for those without a name. */
const char *dns_msg_type_text(uint16_t type, char buf[16]);

/* A query of our own for name (as in struct dns_query). */
must_check bool dns_msg_query_for(const char *name, uint16_t type,
				  struct dns_query *out);

/*
 * The message for the upstream: q's name in lower case, id, RD, EDNS with
 * DNS_MSG_UDP_MAX. Returns its length, 0 when it does not fit.
 */
size_t dns_msg_ask(const struct dns_query *q, uint16_t id, uint8_t *out,
		   size_t max);

struct dns_msg_addr {
	struct addr addr;
	uint32_t ttl_s;
	bool keep;  /* true at first; the caller clears it */
	bool leads; /* the caller's: a name may be what opens it */
};

struct dns_answer {
	ldns_pkt_rcode rcode; /* NOERROR or NXDOMAIN */
	ldns_rr_list *rrs;    /* the chain, then the records asked for */
	struct dns_msg_addr addrs[DNS_MSG_ADDRS_MAX];
	uint32_t n_addrs; /* addrs[i] is the i-th A or AAAA record in rrs */
	uint32_t ttl_s;	  /* the least of all records; 0 without any */
	uint32_t age_s;	  /* goes off each record's TTL in what is sent */
};

enum dns_msg_got {
	DNS_MSG_GOT_ANSWER,
	DNS_MSG_GOT_TRUNCATED, /* ours, but has to be asked for by TCP */
	DNS_MSG_GOT_FAILURE,   /* ours, and no use: SERVFAIL, REFUSED, ... */
	DNS_MSG_GOT_FOREIGN,   /* not the answer to our question: wait on */
};

/*
 * Judge what came from the upstream for q, asked with id. Only on
 * DNS_MSG_GOT_ANSWER *out is set, to be released with dns_msg_done().
 */
enum dns_msg_got dns_msg_answer(const uint8_t *wire, size_t n,
				const struct dns_query *q, uint16_t id,
				struct dns_answer *out);
/* An answer of our own: the one address that the name has, of the family that
 * is asked for. */
void dns_msg_known(const struct dns_query *q, const struct addr *addr,
		   uint32_t ttl_s, struct dns_answer *out);
void dns_msg_done(struct dns_answer *a);

/* A record for people: "A", 60, "192.0.2.1". */
struct dns_shown {
	char type[16];
	uint32_t ttl_s;
	char data[256]; /* what is longer is cut */
};
/* The first max records that a reply has. How many there are. */
size_t dns_msg_show(const struct dns_answer *a, struct dns_shown *out,
		    size_t max);

/*
 * Who asks by EDNS is told why: "Blocked" and a text, an extended error (RFC
 * 8914, section 4.16).
 */
#define DNS_MSG_BLOCKED "refused by policy; see /etc/membrane/README"

/*
 * The reply to q: answer's records without the addresses that are not kept,
 * or none when answer is NULL. What does not fit into max bytes goes as an
 * empty reply with TC. blocked: a policy refuses the name. Returns the length, 0 when not even that fits.
 */
size_t dns_msg_reply(const struct dns_query *q, ldns_pkt_rcode rcode,
		     const struct dns_answer *answer, bool blocked, uint8_t *out,
		     size_t max);

#endif
