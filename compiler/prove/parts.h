/* What the files of this room share. */
#ifndef COMPILER_PROVE_PARTS_H
#define COMPILER_PROVE_PARTS_H

#include "compiler/prove/backstop.h"
#include "compiler/prove/firewall.h"
#include "compiler/prove/prove.h"

/* --- the reader of ruleset.nft: firewall_read.c, words.c, rule.c ---------- */

struct reader {
	struct arena *a;
	struct firewall *f;
	struct firewall_fault *fault;
	struct str rest, line; /* line: without what it begins with */
	size_t depth;	       /* tabs that it began with */
	uint32_t number;
	struct str *w; /* the words of a rule */
	uint32_t n, at;
};

/* Say what is wrong with the line that is being read, once; false. */
bool reader_fails(struct reader *r, const char *what);
/* An address, a network or a range, behind those that are there. */
bool reader_range(struct reader *r, struct firewall_term *t, struct str text);
bool rule_read(struct reader *r, struct firewall_chain *c);

bool words_split(struct reader *r); /* of the line */
bool words_take(struct reader *r, struct str *out);
bool words_peek(const struct reader *r, const char *word);
bool words_is(struct reader *r, const char *word);
/* Several words, all of them. */
bool words_all(struct reader *r, const char *words);
/* Decimal, or hexadecimal with 0x; no sign, at most 32 bits. */
bool words_number(struct str s, uint32_t *out);
/* Words that stand for numbers; the last has none. */
struct word_number {
	const char *word;
	uint32_t number;
};
/* "[!=] a", "[!=] { a, b }"; by the table, or numbers and ranges (NULL). */
bool words_values(struct reader *r, struct firewall_match *m,
		  const struct word_number *table);
/* ">= N", "& M == values", or values: numbers. */
bool words_compared(struct reader *r, struct firewall_match *m);

/* --- the proof ------------------------------------------------------------ */

/* How a term gets its addresses. */
enum filler {
	FILLER_NOBODY,
	FILLER_RESOLVER,
	FILLER_HOST, /* addresses of the machine's own */
	FILLER_PROXY,
	FILLER_ASKED, /* whom the resolver asks */
};

/* An address that stands for all that nothing tells apart from it. */
struct spot {
	struct addr addr;
	const uint8_t *in; /* per term of the filter */
	struct str key;
	uint32_t first_tie, n_ties; /* names that lead there */
};
typedef VEC(struct spot) spot_list;

struct port_cell {
	uint16_t port;
	struct str key;
};
typedef VEC(struct port_cell) port_list;

struct name_cell {
	struct str name;
	struct names_match match;
	bool denied, machine;
	struct str key;
};
typedef VEC(struct name_cell) name_list;

/* A name that led to an address, and the sets that this is in now. */
struct tie {
	const struct name_cell *name;
	const struct names_classes *classes;
	bool special; /* see walk.c: looked at beside another, too */
};

struct proof {
	struct arena *a;
	const struct prove_in *in;
	struct prove_out *out;
	struct firewall firewall;
	enum filler *filler; /* per term */
	struct names_map map;
	uint32_t *effects; /* per grant of allow, ask and deny, in that order */
	uint32_t n_grants;
	const struct ir_grant **grants;
	spot_list spots;
	port_list ports;
	name_list names;
	VEC(struct tie) ties;
	struct spot gate[2], agent[2], machine; /* [0]: IPv4 */
	struct ir_policy *with; /* per entry of ask: it among the grants */
	const struct backstop
		*backstop; /* its borders are looked at; or NULL */
	bool done;	   /* out has its answer */
};

/* Which of two is of IPv6. */
static inline size_t family_at(enum addr_family f)
{
	return f == ADDR_V6;
}

/* False, with the answer, where there is more of something than the bound. */
bool proof_bounded(struct proof *p, const char *what, uint64_t n, uint64_t max);

/* prove.c: the policy with each entry of its `ask` among the grants. */
void proof_add_yes(struct proof *p);

/* space.c: the borders, and what they come down to. */
void space_effects(struct proof *p);
bool space_spots(struct proof *p);
bool space_ports(struct proof *p);
bool space_names(struct proof *p);
struct spot space_spot(struct proof *p, struct addr addr);

/* answers.c: questions and answers. */
/* Does the resolver say of a name what the policy says? */
bool answers_resolve(struct proof *p, const struct name_cell *n);
/*
 * The sets that addr goes into where an answer for n leads there; NULL where it
 * goes into none. A disagreement is in the answer.
 */
const struct names_classes *answers_tie(struct proof *p,
					const struct name_cell *n,
					const struct addr *addr);
bool answers_host(struct proof *p, const struct name_cell *n,
		  const struct addr *addr);
/* By the policy: is an address of an answer for that name opened for it? */
bool answers_opens(const struct proof *p, struct str name,
		   const struct addr *addr);
/* Does the gate ask for that name, at once or when somebody said yes? */
bool answers_asks(const struct name_cell *n);

/* fate.c: what becomes of a packet. */
enum fate_end {
	FATE_DROPPED,
	FATE_REFUSED,
	FATE_PASSES, /* on its way out, or to the machine */
	FATE_TAKEN,  /* by HAProxy, at a port */
	FATE_RESOLVER,
};
struct fate {
	enum fate_end end;
	struct str reason;
	uint32_t port;
	const struct firewall_rule
		*by; /* the last that said something, or NULL */
};
struct cell {
	const struct proof *p;
	const struct spot *called; /* what the agent called, of that family */
	const struct spot *to;	   /* the same, but for NAT */
	const struct spot *from;
	const struct names_classes *tie[2]; /* NULL: none */
	bool is_host;
	bool ours;	  /* called is an address of the gate's on the uplink */
	enum filler peer; /* to an address and port that the gate filled in */
};
struct firewall_packet fate_packet(struct cell *c, uint32_t proto,
				   uint16_t port);
struct fate fate_of(struct cell *c, struct firewall_packet *packet);
/* Of what the gate itself sends. */
struct fate fate_sent(struct cell *c, struct firewall_packet *packet);
/* "passes", "refused (denied)", "goes to HAProxy (15001)" */
struct str fate_text(struct arena *a, const struct fate *f);

/* walk.c: flows of the agent's; link.c: what holds whatever is granted. */
bool walk_answers(struct proof *p); /* names that lead to addresses, alone */
/* May it leave, whatever HAProxy or a person says of it on the way? */
bool walk_leaves(const struct proof *p, const struct decide_flow *q,
		 struct decision *out);
bool walk_flows(struct proof *p);
bool link_packets(struct proof *p);

/* backstop_walk.c: networkpolicy.yaml, when all else agrees. */
bool backstop_prove(struct proof *p);
bool backstop_publishes(const struct proof *p, uint32_t port);

/* report: the first disagreement. */
void proof_differs(struct proof *p, struct str subject,
		   const struct decision *want, struct str wanted,
		   const struct fate *got);

#endif
