/* The chains of ruleset.nft that refuse QUIC. */
#include "compiler/emit/nft/nft_parts.h"

#include "compiler/ir/inspection.h"
#include "compiler/ir/ports.h"
#include "compiler/plan/names_map.h"

#define ASK "jump quic"

/*
 * How clients of QUIC begin. Every version has the long header (RFC 8999,
 * section 5.1): a first byte, four of version, the length of a number and that
 * number. From 0xc0 on the first byte is nothing else's where protocols share a
 * port (RFC 9443, section 3); but DNS begins with any byte, and NTP of a clock
 * that is not set with 0xe3. Those are short, where a client's first packet has
 * 1200 bytes (RFC 9000, section 14.1), and where that length stands, which a
 * client has from 8 to 20 (RFC 9000, section 7.2), they have 0 or 1.
 * Google's own could be shorter, and a server that was met before may let the
 * second bit be clear (RFC 9287), with which RTP begins: of these the versions
 * that are known, Google's, the IETF's with its drafts, Microsoft's, Meta's.
 * None of them reads as a question of DNS.
 * Google's until Q043 had flags, a number of 8 bytes, and only then a version.
 */
void nft_quic_chain(struct nft *r)
{
	struct buf *out = r->out;

	if (!r->asks_quic)
		return;
	nft_about(
		out,
		"What is QUIC, and could be for a name or a request that is denied");
	nft_chain_begin(out, "quic");
	nft_rule(out,
		 "@th,64,8 >= 0xc0 udp length >= 1208 " NFT_REFUSE("quic"));
	nft_rule(out,
		 "@th,64,8 >= 0xc0 @th,104,8 0x8-0x14 " NFT_REFUSE("quic"));
	nft_rule(
		out,
		"@th,64,8 >= 0x80 @th,72,32 { 0x1, 0x51303030-0x51303939, 0x54303030-0x54303939, 0x6b3343cf, 0x709a50c4, 0xabcd0000-0xabcd000f, 0xfaceb000-0xfaceb0ff, 0xff000001-0xff0000ff } " NFT_REFUSE(
			"quic"));
	nft_rule(
		out,
		"@th,64,8 & 0xc9 == 0x9 @th,136,32 0x51303030-0x51303939 " NFT_REFUSE(
			"quic"));
	nft_chain_end(out);
	buf_addc(out, '\n');
}

/* Of a class of grants, those where QUIC could be for what is denied. */
static ir_ports ports_of(struct nft *r, uint32_t k)
{
	return ports_split(r->in->a, &r->grants.classes.v[k].ports, &r->quic,
			   IR_PROTO_UDP, true);
}

void nft_quic_find(struct nft *r)
{
	bool any = false;

	r->quic = inspection_quic_ports(r->in->a, r->in->policy);
	for (uint32_t k = 0; k < r->grants.classes.n; k++)
		any |= r->grants.classes.v[k].has_name && ports_of(r, k).n;
	vec_each(d, &r->in->policy->deny)
		if (any && inspection_quic_net(d))
			nft_nets_add(r->in->a, &r->requests,
				     inspection_quic_net(d));
	nft_nets_settle(&r->requests);
}

/* What has no name that the gate knows of. */
static void put_unnamed(struct nft *r, enum nft_kind kind, enum addr_family f)
{
	for (uint32_t k = 0; k < r->grants.classes.n; k++) {
		ir_ports ports;

		if (!nft_kind_has(r, kind, f, k))
			continue;
		ports = ports_of(r, k);
		if (ports.n)
			nft_marks_default(r, nft_marks_both(f) & MARKS_UDP,
					  MARKS_FOR(QUIC));
		nft_match_class(r, kind, f, k, &ports, IR_PROTO_UDP, ASK);
		r->asks_quic |= ports.n > 0;
	}
}

/* The rule that is written next is there for denials at networks, on some of
 * these ports. */
static void mark_requests(struct nft *r, enum addr_family f,
			  const ir_ports *ports)
{
	struct arena *a = r->in->a;

	if (!r->in->marks)
		return;
	vec_each(d, &r->in->policy->deny) {
		const struct cidr *net = inspection_quic_net(d);
		ir_ports of = inspection_quic_same(a, &d->ports);

		if (net && net->addr.family == f &&
		    ports_split(a, ports, &of, IR_PROTO_UDP, true).n)
			marks_add(r->in->marks,
				  (struct marks_one){
					  .at = r->out->n,
					  .from = &d->from,
					  .uses = nft_marks_both(f) & MARKS_UDP,
					  .reasons = MARKS_FOR(QUIC)});
	}
}

/* Names that lead to where requests are denied. */
static void put_named(struct nft *r, enum addr_family f)
{
	for (uint32_t k = 0; k < r->grants.classes.n; k++) {
		ir_ports ports;

		if (!nft_kind_has(r, NFT_HOST, f, k))
			continue;
		ports = ports_of(r, k);
		if (!ports.n)
			continue;
		mark_requests(r, f, &ports);
		nft_begin(r->out);
		nft_daddr(r->out, nft_kind_set(NFT_HOST, f, k), true);
		nft_daddr(r->out, (struct nft_set){"requests", f, 0}, true);
		nft_dport(r->out, &ports, IR_PROTO_UDP);
		nft_word(r->out, ASK);
		nft_end(r->out);
		r->asks_quic = true;
	}
}

/* The rule that is written next is there for denials of that class. */
static void mark_class(struct nft *r, enum addr_family f, uint32_t class)
{
	if (!r->in->marks)
		return;
	vec_each(d, &r->in->policy->deny)
		if (emit_quic_of(&r->quics, d) == class)
			marks_add(r->in->marks,
				  (struct marks_one){
					  .at = r->out->n,
					  .from = &d->from,
					  .uses = nft_marks_both(f) & MARKS_UDP,
					  .reasons = MARKS_FOR(QUIC)});
}

/* Names of one class, at the addresses to which those of another lead. */
static void put_guard(struct nft *r, enum addr_family f, uint32_t k, uint32_t q)
{
	ir_ports of = inspection_quic_same(r->in->a, &r->quics.v[q].ports);
	ir_ports ports = ports_split(r->in->a, &r->grants.classes.v[k].ports,
				     &of, IR_PROTO_UDP, true);

	if (!ports.n)
		return;
	mark_class(r, f, q + 1);
	nft_begin(r->out);
	nft_daddr(r->out, nft_kind_set(NFT_HOST, f, k), true);
	nft_daddr(r->out, (struct nft_set){NAMES_MAP_SET_QUIC, f, q + 1}, true);
	nft_dport(r->out, &ports, IR_PROTO_UDP);
	nft_word(r->out, ASK);
	nft_end(r->out);
	r->asks_quic = true;
}

/* Names that lead to where names lead whose requests are denied. */
static void put_guarded(struct nft *r, enum addr_family f)
{
	for (uint32_t k = 0; k < r->grants.classes.n; k++)
		for (uint32_t q = 0; q < r->quics.n; q++)
			if (nft_kind_has(r, NFT_HOST, f, k))
				put_guard(r, f, k, q);
}

/* See compiler/ir/inspection.h. Other datagrams may have gone before. */
void nft_quic_put(struct nft *r, enum addr_family f)
{
	put_unnamed(r, NFT_CIDR, f);
	put_unnamed(r, NFT_ANY, f);
	if (nft_nets_of(&r->requests, f)->n)
		put_named(r, f);
	put_guarded(r, f);
}
