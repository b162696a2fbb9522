/*
 * A typed writer of nftables text, in the style in which nft lists it.
 *
 * The gate loads ruleset.nft and compares it with what the kernel then lists,
 * so every word counts: nft 1.0.6, `nft -s list table`. Lines of comments do
 * not. Only literals of the
 * compiler, numbers and addresses go in; no string of a user's has a way here.
 */
#ifndef COMPILER_EMIT_NFT_NFT_WRITE_H
#define COMPILER_EMIT_NFT_NFT_WRITE_H

#include "compiler/emit/nft/ranges.h"
#include "compiler/ir/ir.h"

/* A set's name: "cidr4_7"; number 0: "floor4". */
struct nft_set {
	const char *stem;
	enum addr_family family;
	uint32_t number;
};

/* A set of ranges, perhaps empty, that is never filled later, or is (host4). */
void nft_put_ranges(struct buf *out, struct nft_set set, const ranges *r);
/* The same; out_at[i], when out_at is not NULL, is where range i stands. */
void nft_put_ranges_at(struct buf *out, struct nft_set set, const ranges *r,
		       size_t *out_at);
/* A set of addresses with timeouts, for the resolver to fill. */
void nft_put_dynamic(struct buf *out, struct nft_set set);

/* A comment of ours above a set or a chain, and one above a rule. */
void nft_about(struct buf *out, const char *text);
void nft_note(struct buf *out, const char *text);
void nft_chain_begin(struct buf *out, const char *name);
/* type, hook and priority as nft spells them */
void nft_chain_hook(struct buf *out, const char *type, const char *hook,
		    const char *priority, const char *policy);
void nft_chain_end(struct buf *out);
/* A whole rule of ours. */
void nft_rule(struct buf *out, const char *text);

/* Parts of a rule, in this order; nft_end() ends it. */
void nft_begin(struct buf *out);
/* "ip daddr @set" or "ip6 daddr != @set" */
void nft_daddr(struct buf *out, struct nft_set set, bool is_in);
/* "tcp dport 443", "udp dport { 53, 8000-8999 }": the ports of one protocol, of
 * which there are some. */
void nft_dport(struct buf *out, const ir_ports *ports, enum ir_proto proto);
void nft_word(struct buf *out, const char *text);
void nft_end(struct buf *out);
bool nft_has_proto(const ir_ports *ports, enum ir_proto proto);

#endif
