/*
 * The chain of ruleset.nft for the machine that runs membrane, 'host': its
 * address is one of the gate's own, so that what is granted of it is taken in
 * and not forwarded. The launcher answers there: compiler/plan/docker_json.h.
 */
#include "compiler/emit/nft/nft_parts.h"
#include "compiler/ir/ports.h"

/* Nothing but 'host' itself leads there: no network that has its address. */
static bool any_machine(const emit_members *of)
{
	vec_each(g, of)
		if (ir_dest_machine(&(*g)->dest) && !ir_grant_http(*g))
			return true;
	return false;
}

/* As in the chain forward; what HAProxy decides does not get here. */
static void put_granted_ports(struct nft *r)
{
	const struct nft_side *s = &r->grants;

	for (uint32_t k = 0; k < s->classes.n; k++) {
		ir_ports ports = ports_split(r->in->a, &s->classes.v[k].ports,
					     &r->inside, IR_PROTO_TCP, false);

		if (!any_machine(&s->members[k]) || ports.n == 0)
			continue;
		nft_marks_rule(r, &s->members[k], NFT_CIDR, ADDR_V4,
			       IR_PROTO_TCP, MARKS_FOR(GRANTED));
		nft_match_class(r, NFT_CIDR, ADDR_V4, k, &ports, IR_PROTO_TCP,
				NFT_PASS);
	}
}

void nft_machine_put(struct nft *r)
{
	struct buf *out = r->out;

	if (!ir_allows_machine(r->in->policy))
		return;
	nft_about(
		out,
		"The machine that runs membrane: ports that are granted, and nothing else of it");
	nft_chain_begin(out, "machine");
	nft_rule(out, "ip hdrlength != 5 " NFT_REFUSE("protocol"));
	each_proto(p) {
		nft_match_kind(r, NFT_DENY, ADDR_V4, *p, NFT_REFUSE("denied"),
			       MARKS_FOR(DENIED));
		nft_match_denied_any(r, *p, NFT_REFUSE("denied"),
				     MARKS_FOR(DENIED));
	}
	nft_rule(out, "ct state established,related accept");
	nft_rule(out, "ct state invalid drop");
	put_granted_ports(r);
	nft_rule(out, "meta l4proto != { tcp, udp } " NFT_REFUSE("protocol"));
	nft_rule(out, NFT_REFUSE("no-grant"));
	nft_chain_end(out);
	buf_addc(out, '\n');
}
