#include "compiler/emit/nft/nft_nets.h"

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

/* Does a grant of that network open what of an entry lies in it? */
static bool opens_net(const struct ir_grant *g, const struct cidr *net,
		      const struct cidr *entry)
{
	return (!ir_grant_http(g) || cidr_is_machine(net)) &&
	       net->bits > entry->bits;
}

/* What more specific grants open of the floor: of any entry of it, as there
 * may be narrower ones inside that stay closed. */
static void add_opened(struct arena *a, const ir_grants *grants,
		       struct nft_nets *out)
{
	vec_each(g, grants) {
		const struct cidr *net = ir_dest_net(&g->dest);
		const struct addr_special *s;

		for (size_t i = 0; net && (s = addr_special(i)); i++)
			if (s->scope == ADDR_NEVER &&
			    opens_net(g, net, &s->net) &&
			    cidr_covers(&s->net, net))
				nft_nets_add(a, out, net);
	}
}

/* By what a person may permit, too: who was asked decides then. */
static void find_opened(const struct emit_in *in, struct nft_nets *out)
{
	add_opened(in->a, &in->policy->allow, out);
	add_opened(in->a, &in->policy->ask, out);
	nft_nets_settle(out);
}

/*
 * What a grant reaches: of the floor's parts that are opened, and that the set
 * of the floor therefore leaves out, only those that it opens itself.
 */
static void add_reached(struct arena *a, struct nft_nets *to,
			const struct ir_grant *g, struct nft_nets *opened)
{
	const struct cidr *net = ir_dest_net(&g->dest);
	enum addr_family f = net->addr.family;
	const ranges *open = nft_nets_of(opened, f);
	const struct addr_special *s;
	ranges whole = {0}, less = {0}, closed, rest;

	ranges_add(a, &whole, net);
	for (size_t i = 0; open->n && (s = addr_special(i)); i++)
		if (s->scope == ADDR_NEVER && !opens_net(g, net, &s->net) &&
		    (cidr_covers(net, &s->net) || cidr_covers(&s->net, net)))
			ranges_add(a, &less, &s->net);
	ranges_settle(&less);
	closed = ranges_minus(a, &less, open);
	less = ranges_minus(a, &less, &closed);
	rest = ranges_minus(a, &whole, &less);
	vec_each(x, &rest)
		*vec_push(a, nft_nets_of(to, f)) = *x;
}

static bool is_which(const struct ir_grant *g, enum nft_nets_which which)
{
	return which == NFT_NETS_ALL ||
	       ir_grant_http(g) == (which == NFT_NETS_HTTP);
}

struct nft_nets *nft_nets_classes(const struct emit_in *in,
				  const emit_classes *classes,
				  const ir_grants *grants,
				  enum nft_nets_which which)
{
	struct arena *a = in->a;
	struct nft_nets *nets = arena_array(a, classes->n + 1, sizeof(*nets));
	struct nft_nets opened = {0};

	find_opened(in, &opened);
	vec_each(g, grants) {
		const struct cidr *net = ir_dest_net(&g->dest);
		uint32_t k = 0;

		if (net && is_which(g, which) && g->from.layer != LAYER_FLOOR)
			k = emit_class_of(classes, g);
		if (!k)
			continue;
		if (g->key == IR_KEY_DENY)
			nft_nets_add(a, &nets[k - 1], net);
		else
			add_reached(a, &nets[k - 1], g, &opened);
	}
	for (uint32_t k = 0; k < classes->n; k++)
		nft_nets_settle(&nets[k]);
	return nets;
}

/* What opens a part of one entry of the floor; others take nothing off it. */
static void add_opening(struct arena *a, const ir_grants *grants,
			const struct cidr *net, struct nft_nets *out)
{
	vec_each(g, grants) {
		const struct cidr *own = ir_dest_net(&g->dest);

		if (own && opens_net(g, own, net))
			nft_nets_add(a, out, own);
	}
}

/* The floor without what those open of it. */
static void carve_floor(const struct emit_in *in, bool asked,
			struct nft_nets *out)
{
	struct arena *a = in->a;

	vec_each(d, &in->policy->deny) {
		const struct cidr *net = &d->dest.u.cidr.net;
		struct nft_nets whole = {0}, opened = {0};
		ranges rest;

		if (d->from.layer != LAYER_FLOOR)
			continue;
		nft_nets_add(a, &whole, net);
		add_opening(a, &in->policy->allow, net, &opened);
		if (asked)
			add_opening(a, &in->policy->ask, net, &opened);
		nft_nets_settle(&opened);
		rest = ranges_minus(a, nft_nets_of(&whole, net->addr.family),
				    nft_nets_of(&opened, net->addr.family));
		vec_each(x, &rest)
			*vec_push(a, nft_nets_of(out, net->addr.family)) = *x;
	}
	nft_nets_settle(out);
}

void nft_nets_floor(const struct emit_in *in, struct nft_nets *out)
{
	carve_floor(in, true, out);
}

void nft_nets_floor_asked(const struct emit_in *in, struct nft_nets *out)
{
	struct nft_nets granted = {0}, both = {0};

	carve_floor(in, false, &granted);
	carve_floor(in, true, &both);
	out->v4 = ranges_minus(in->a, &granted.v4, &both.v4);
	out->v6 = ranges_minus(in->a, &granted.v6, &both.v6);
}

void nft_nets_private(struct arena *a, struct nft_nets *out)
{
	const struct addr_special *s;

	for (size_t i = 0; (s = addr_special(i)); i++)
		nft_nets_add(a, out, &s->net);
	nft_nets_settle(out);
}
