/*
 * The parts of ruleset.nft, and what they share.
 *
 * Grants and denials stand in classes of the same ports (emit.h). Of a class
 * there is a rule, and most often a set, for each kind of destination in it:
 * nft_kind.c knows them, nft_sets.c writes the sets, nft_match.c the rules,
 * nft_quic.c those about QUIC, and nft_marks.c says of each where it came
 * from. nft_link.c has what no policy changes, nft.c the other chains, and puts
 * everything together.
 */
#ifndef COMPILER_EMIT_NFT_NFT_PARTS_H
#define COMPILER_EMIT_NFT_NFT_PARTS_H

#include "compiler/emit/emit.h"
#include "compiler/emit/nft/nft_nets.h"
#include "compiler/emit/nft/nft_write.h"
#include "compiler/plan/gate.h"

struct nft_side {
	emit_classes classes;
	emit_members *members; /* by class, from 0 */
};

struct nft {
	const struct emit_in *in;
	struct buf *out;
	struct nft_side grants, denials, asks;
	struct nft_nets *grant_nets, *http_nets,
		*denial_nets, *ask_nets; /* by class, from 0 */
	bool l7;	      /* there is an HAProxy */
	bool any_direct;      /* '*' does not go through it */
	bool taken;	      /* what else would pass goes to it, too */
	struct nft_nets floor, private;
	struct nft_nets floor_asked; /* of it, what some are asked about */
	struct nft_nets past;	  /* what of 'direct' are networks */
	struct nft_nets requests; /* where some are denied that may be QUIC */
	ir_ports inside;	  /* ports where names or requests are denied */
	ir_ports quic; /* and of UDP, where QUIC could be for those */
	/* Denials of requests to names that it could be for: emit.h. */
	emit_classes quics;
	bool asks_quic; /* some rule does */
	ir_ports published;
};

extern const enum addr_family nft_families[2];
extern const enum ir_proto nft_protos[2];

#define each_family(f)                                                         \
	for (const enum addr_family *f = nft_families; f < nft_families + 2;   \
	     f++)
#define each_proto(p)                                                          \
	for (const enum ir_proto *p = nft_protos; p < nft_protos + 2; p++)

/* What a class has a rule for; NFT_DENY and NFT_GUARD are of denials, those
 * that begin with NFT_ASK of what is asked about. */
enum nft_kind {
	NFT_CIDR,      /* networks without http */
	NFT_CIDR_HTTP, /* and with */
	NFT_HOST,      /* names */
	NFT_HTTP,
	NFT_ANY, /* '*': what is not private */
	NFT_ANY_HTTP,
	NFT_DENY,  /* networks that are denied */
	NFT_GUARD, /* names that are */
	NFT_ASK,   /* names */
	NFT_ASK_CIDR,
	NFT_ASK_ANY,
};

const struct nft_side *nft_kind_side(const struct nft *r, enum nft_kind kind);
/* Its set for class k, from 0. */
struct nft_set nft_kind_set(enum nft_kind kind, enum addr_family f, uint32_t k);
/* The networks of a kind that is made of them, by class. */
struct nft_nets *nft_kind_nets(const struct nft *r, enum nft_kind kind);
/* Has class k any? */
bool nft_kind_has(const struct nft *r, enum nft_kind kind, enum addr_family f,
		  uint32_t k);
/* Is its rule there for this grant or denial, too? */
bool nft_kind_is(enum nft_kind kind, enum addr_family f,
		 const struct ir_grant *g);

/* By class, from 0. */
emit_members *nft_marks_members(const struct emit_in *in,
				const emit_classes *classes,
				const ir_grants *grants);
/* The rule that is written next is there for some of a class. No reasons:
 * nothing is decided by it. */
void nft_marks_rule(struct nft *r, const emit_members *of, enum nft_kind kind,
		    enum addr_family f, enum ir_proto proto, uint64_t reasons);
/* It refuses where no rule of the policy decides. uses: marks.h */
void nft_marks_default(struct nft *r, unsigned uses, uint64_t reasons);
unsigned nft_marks_both(enum addr_family f); /* protocols */
/* What of a set is one grant's or denial's; at: where its elements stand. */
void nft_marks_elements(struct nft *r, const ranges *set, const size_t *at,
			const struct ir_grant *g, uint64_t reasons);

/* What a way to where only HTTP and TLS may pass stands for. */
#define NFT_ONLY_HTTP (MARKS_FOR(GRANTED) | MARKS_FOR(NOT_HTTP))

void nft_sets_put(struct nft *r);

#define NFT_LINK "\"" LINK_GATE_IF "\""
#define NFT_PASS "goto granted"
#define NFT_REFUSE(reason)                                                     \
	"counter log prefix \"" GATE_LOG_PREFIX reason                         \
	":\" group " GATE_TEXT(GATE_LOG_REFUSED) " goto refuse"

/* One rule for a set that is no class's: "floor", "host". */
void nft_match_set(struct buf *out, const char *stem, enum addr_family f,
		   const char *verdict);
/* The rule of class k, for these ports of it. */
void nft_match_class(struct nft *r, enum nft_kind kind, enum addr_family f,
		     uint32_t k, const ir_ports *ports, enum ir_proto proto,
		     const char *verdict);
/* A rule for each class that has the kind. */
void nft_match_kind(struct nft *r, enum nft_kind kind, enum addr_family f,
		    enum ir_proto proto, const char *verdict, uint64_t reasons);
/* '*' with ports, denied. */
void nft_match_denied_any(struct nft *r, enum ir_proto proto,
			  const char *verdict, uint64_t reasons);
/*
 * Networks without http, TCP: on the ports where a name or a request is denied
 * (is_inside), or on all others. See compiler/ir/inspection.h.
 */
void nft_match_nets(struct nft *r, bool is_inside, enum addr_family f,
		    const char *verdict);

/* r->quic and r->requests, for which r->grants is there. */
void nft_quic_find(struct nft *r);
/* QUIC to where names or requests are denied; before what is established. */
void nft_quic_put(struct nft *r, enum addr_family f);
/* What QUIC is, where a rule asks for that. */
void nft_quic_chain(struct nft *r);

/* 'host', where anything of it is granted; after r->grants and what its
 * networks are. */
void nft_machine_put(struct nft *r);

/* The chains of the agent's link, and the rules of a chain: nft_link.c. */
void nft_link_source(struct buf *out);
void nft_link_output(struct nft *r);
void nft_link_refuse(struct buf *out);
void nft_link_options(struct buf *out);

#endif
