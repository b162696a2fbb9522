#include "compiler/emit/nft_parts.h"

static void put_both(struct nft *r, const char *stem, struct nft_nets *nets)
{
	each_family(f)
		nft_put_ranges(r->out, (struct nft_set){stem, *f, 0},
			       nft_nets_of(nets, *f));
}

static bool any_any(const emit_classes *classes)
{
	vec_each(k, classes)
		if (k->has_any || k->has_anyhttp)
			return true;
	return false;
}

static void put_floor(struct nft *r)
{
	each_family(f) {
		const ranges *nets = nft_nets_of(&r->floor, *f);
		size_t *at = arena_array(r->in->a, nets->n + 1, sizeof(*at));

		nft_put_ranges_at(r->out, (struct nft_set){"floor", *f, 0},
				  nets, at);
		if (!r->in->marks)
			continue;
		vec_each(d, &r->in->policy->deny)
			if (d->from.layer == LAYER_FLOOR &&
			    nft_kind_is(NFT_DENY, *f, d))
				nft_marks_elements(r, nets, at, d,
						   MARKS_FOR(FLOOR));
	}
}

/* Only where a rule speaks of them: see nft_quic.c. */
static void put_requests(struct nft *r)
{
	each_family(f)
		if (nft_nets_of(&r->requests, *f)->n)
			nft_put_ranges(r->out,
				       (struct nft_set){"requests", *f, 0},
				       nft_nets_of(&r->requests, *f));
}

/* The networks of a class, and which of them a grant or denial put there. */
static void put_class(struct nft *r, enum nft_kind kind, enum addr_family f,
		      uint32_t k, uint64_t reasons)
{
	const nft_members *of = nft_kind_members(nft_kind_side(r, kind), k);
	const ranges *nets = nft_nets_of(&nft_kind_nets(r, kind)[k], f);
	size_t *at = NULL;

	if (of)
		at = arena_array(r->in->a, nets->n, sizeof(*at));
	nft_put_ranges_at(r->out, nft_kind_set(kind, f, k), nets, at);
	if (of)
		vec_each(g, of)
			if (nft_kind_is(kind, f, *g))
				nft_marks_elements(r, nets, at, *g, reasons);
}

static void put_networks(struct nft *r, enum nft_kind kind, uint64_t reasons)
{
	for (uint32_t k = 0; k < nft_kind_side(r, kind)->classes.n; k++)
		each_family(f)
			if (nft_kind_has(r, kind, *f, k))
				put_class(r, kind, *f, k, reasons);
}

/* For the resolver to fill. */
static void put_dynamic(struct nft *r, enum nft_kind kind)
{
	for (uint32_t k = 0; k < nft_kind_side(r, kind)->classes.n; k++)
		each_family(f)
			if (nft_kind_has(r, kind, *f, k))
				nft_put_dynamic(r->out,
						nft_kind_set(kind, *f, k));
}

void nft_sets_put(struct nft *r)
{
	struct nft_nets none = {0};

	put_floor(r);
	put_both(r, "host", &none);
	if (any_any(&r->grants.classes))
		put_both(r, "private", &r->private);
	put_requests(r);
	put_networks(r, NFT_DENY, MARKS_FOR(DENIED));
	put_networks(r, NFT_CIDR, MARKS_FOR(GRANTED));
	put_networks(r, NFT_CIDR_HTTP, NFT_ONLY_HTTP);
	put_dynamic(r, NFT_GUARD);
	put_dynamic(r, NFT_HOST);
	put_dynamic(r, NFT_HTTP);
	for (uint32_t q = 0; q < r->quics.n; q++)
		each_family(f)
			nft_put_dynamic(r->out,
					(struct nft_set){"quic", *f, q + 1});
}
