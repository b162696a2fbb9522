#include "compiler/emit/nft_nets.h"

ranges *nft_nets_of(struct nft_nets *n, enum addr_family family)
{
	return family == ADDR_V4 ? &n->v4 : &n->v6;
}

void nft_nets_add(struct arena *a, struct nft_nets *n, const struct cidr *net)
{
	ranges_add(a, nft_nets_of(n, net->addr.family), net);
}

void nft_nets_settle(struct nft_nets *n)
{
	ranges_settle(&n->v4);
	ranges_settle(&n->v6);
}

struct nft_nets *nft_nets_classes(struct arena *a, const emit_classes *classes,
				  const ir_grants *grants, bool http)
{
	struct nft_nets *nets = arena_array(a, classes->n + 1, sizeof(*nets));

	vec_each(g, grants) {
		const struct cidr *net = ir_dest_net(&g->dest);
		uint32_t k = 0;

		if (net && ir_grant_http(g) == http &&
		    g->from.layer != LAYER_FLOOR)
			k = emit_class_of(classes, g);
		if (k)
			nft_nets_add(a, &nets[k - 1], net);
	}
	for (uint32_t k = 0; k < classes->n; k++)
		nft_nets_settle(&nets[k]);
	return nets;
}

void nft_nets_floor(const struct emit_in *in, struct nft_nets *out)
{
	struct arena *a = in->a;

	vec_each(d, &in->policy->deny) {
		const struct cidr *net = &d->dest.u.cidr.net;
		struct nft_nets whole = {0}, opened = {0};
		ranges rest;

		if (d->from.layer != LAYER_FLOOR)
			continue;
		nft_nets_add(a, &whole, net);
		vec_each(g, &in->policy->allow)
			if (g->dest.kind == IR_DEST_CIDR && !g->has_http &&
			    g->dest.u.cidr.net.bits > net->bits &&
			    cidr_covers(net, &g->dest.u.cidr.net))
				nft_nets_add(a, &opened, &g->dest.u.cidr.net);
		nft_nets_settle(&opened);
		rest = ranges_minus(a, nft_nets_of(&whole, net->addr.family),
				    nft_nets_of(&opened, net->addr.family));
		vec_each(x, &rest)
			*vec_push(a, nft_nets_of(out, net->addr.family)) = *x;
	}
	nft_nets_settle(out);
}

void nft_nets_private(struct arena *a, struct nft_nets *out)
{
	const struct addr_special *s;
	struct cidr net;

	for (size_t at = 0; addr_private_next(&at, &net);)
		nft_nets_add(a, out, &net);
	for (size_t i = 0; (s = addr_special(i)); i++) {
		cidr_parse(str_of(s->text), &net);
		nft_nets_add(a, out, &net);
	}
	nft_nets_settle(out);
}
