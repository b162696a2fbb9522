/* Matches of ruleset.nft: sets, classes, networks. */
#include "compiler/emit/nft/nft_parts.h"

#include "compiler/ir/ports.h"

/* One rule: an address set or none, the ports of one protocol, a verdict;
 * none where there are no such ports. is_in: else all that is not in the
 * set. */
static void put_match(struct buf *out, const struct nft_set *set, bool is_in,
		      const ir_ports *ports, enum ir_proto proto,
		      const char *verdict)
{
	if (!nft_has_proto(ports, proto))
		return;
	nft_begin(out);
	if (set)
		nft_daddr(out, *set, is_in);
	nft_dport(out, ports, proto);
	nft_word(out, verdict);
	nft_end(out);
}

void nft_match_set(struct buf *out, const char *stem, enum addr_family f,
		   const char *verdict)
{
	nft_begin(out);
	nft_daddr(out, (struct nft_set){stem, f, 0}, true);
	nft_word(out, verdict);
	nft_end(out);
}

void nft_match_class(struct nft *r, enum nft_kind kind, enum addr_family f,
		     uint32_t k, const ir_ports *ports, enum ir_proto proto,
		     const char *verdict)
{
	struct nft_set set = nft_kind_set(kind, f, k);
	/* Of '*' the set says where it does not lead. */
	bool is_in = kind != NFT_ANY && kind != NFT_ANY_HTTP &&
		     kind != NFT_ASK_ANY;

	put_match(r->out, &set, is_in, ports, proto, verdict);
}

void nft_match_kind(struct nft *r, enum nft_kind kind, enum addr_family f,
		    enum ir_proto proto, const char *verdict, uint64_t reasons)
{
	const struct nft_side *s = nft_kind_side(r, kind);

	for (uint32_t k = 0; k < s->classes.n; k++) {
		const ir_ports *ports = &s->classes.v[k].ports;

		if (!nft_kind_has(r, kind, f, k) ||
		    !nft_has_proto(ports, proto))
			continue;
		nft_marks_rule(r, &s->members[k], kind, f, proto, reasons);
		nft_match_class(r, kind, f, k, ports, proto, verdict);
	}
}

void nft_match_denied_any(struct nft *r, enum ir_proto proto,
			  const char *verdict, uint64_t reasons)
{
	const struct nft_side *s = &r->denials;

	for (uint32_t k = 0; k < s->classes.n; k++) {
		const struct emit_class *class = &s->classes.v[k];

		if (!class->has_any || !nft_has_proto(&class->ports, proto))
			continue;
		each_family(f)
			nft_marks_rule(r, &s->members[k], NFT_ANY, *f, proto,
				       reasons);
		put_match(r->out, NULL, true, &class->ports, proto, verdict);
	}
}

/* What goes to the machine is taken in by the gate: nft_machine.c. */
static bool spares_machine(const struct nft *r)
{
	return r->taken && ir_allows_machine(r->in->policy);
}

static void put_sparing(struct nft *r, uint32_t k, const ir_ports *ports,
			const char *verdict)
{
	nft_begin(r->out);
	nft_word(r->out, "ip daddr != " LINK_MACHINE_V4);
	nft_daddr(r->out, nft_kind_set(NFT_CIDR, ADDR_V4, k), true);
	nft_dport(r->out, ports, IR_PROTO_TCP);
	nft_word(r->out, verdict);
	nft_end(r->out);
}

void nft_match_nets(struct nft *r, bool is_inside, enum addr_family f,
		    const char *verdict)
{
	const struct nft_side *s = &r->grants;

	for (uint32_t k = 0; k < s->classes.n; k++) {
		ir_ports ports;

		if (!nft_kind_has(r, NFT_CIDR, f, k))
			continue;
		ports = ports_split(r->in->a, &s->classes.v[k].ports,
				    &r->inside, IR_PROTO_TCP, is_inside);
		if (ports.n == 0)
			continue;
		nft_marks_rule(r, &s->members[k], NFT_CIDR, f, IR_PROTO_TCP,
			       MARKS_FOR(GRANTED));
		if (is_inside || f == ADDR_V6 || !spares_machine(r))
			nft_match_class(r, NFT_CIDR, f, k, &ports, IR_PROTO_TCP,
					verdict);
		else
			put_sparing(r, k, &ports, verdict);
	}
}
