/*
 * What the rules and sets of ruleset.nft stand for: whose grants, and for
 * which reasons.
 */
#include "compiler/emit/nft/nft_parts.h"

emit_members *nft_marks_members(const struct emit_in *in,
				const emit_classes *classes,
				const ir_grants *grants)
{
	emit_members *out = arena_array(in->a, classes->n + 1, sizeof(*out));

	vec_each(g, grants) {
		uint32_t k = g->from.layer == LAYER_FLOOR
				     ? 0
				     : emit_class_of(classes, g);

		if (k)
			*vec_push(in->a, &out[k - 1]) = g;
	}
	return out;
}

static unsigned use_of(enum addr_family f, enum ir_proto proto)
{
	if (f == ADDR_V4)
		return proto == IR_PROTO_TCP ? MARKS_TCP4 : MARKS_UDP4;
	return proto == IR_PROTO_TCP ? MARKS_TCP6 : MARKS_UDP6;
}

unsigned nft_marks_both(enum addr_family f)
{
	return use_of(f, IR_PROTO_TCP) | use_of(f, IR_PROTO_UDP);
}

void nft_marks_rule(struct nft *r, const emit_members *of, enum nft_kind kind,
		    enum addr_family f, enum ir_proto proto, uint64_t reasons)
{
	if (!r->in->marks || !reasons)
		return;
	vec_each(g, of)
		if (nft_kind_is(kind, f, *g))
			marks_add(r->in->marks,
				  (struct marks_one){.at = r->out->n,
						     .from = &(*g)->from,
						     .uses = use_of(f, proto),
						     .reasons = reasons});
}

void nft_marks_default(struct nft *r, unsigned uses, uint64_t reasons)
{
	marks_add(r->in->marks, (struct marks_one){.at = r->out->n,
						   .uses = uses,
						   .reasons = reasons});
}

void nft_marks_elements(struct nft *r, const ranges *set, const size_t *at,
			const struct ir_grant *g, uint64_t reasons)
{
	const struct cidr *net = ir_dest_net(&g->dest);
	struct addr last = cidr_last(net);

	for (uint32_t i = 0; i < set->n; i++) {
		const struct range *x = &set->v[i];
		struct marks_one one = {
			.at = at[i],
			.from = &g->from,
			.uses = nft_marks_both(net->addr.family),
			.reasons = reasons,
			.has_range = true,
			.lo = x->lo,
			.hi = x->hi};

		if (addr_cmp(&x->hi, &net->addr) < 0 ||
		    addr_cmp(&x->lo, &last) > 0)
			continue;
		if (addr_cmp(&net->addr, &one.lo) > 0)
			one.lo = net->addr;
		if (addr_cmp(&last, &one.hi) < 0)
			one.hi = last;
		marks_add(r->in->marks, one);
	}
}
