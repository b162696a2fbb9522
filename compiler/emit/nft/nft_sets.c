/*
 * The sets of ruleset.nft, the empty ones that the resolver fills among them.
 */
#include "compiler/emit/comment.h"
#include "compiler/emit/nft/nft_parts.h"
#include "compiler/ir/inspection.h"
#include "compiler/ir/upstream.h"
#include "compiler/plan/names_map.h"

#include <stdlib.h>

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

static const char *metadata_kind(enum nft_kind kind)
{
	switch (kind) {
	case NFT_CIDR:
		return "networks that are granted: packets pass";
	case NFT_CIDR_HTTP:
		return "networks that only HTTP and TLS may reach";
	case NFT_HOST:
		return "addresses of names that are granted, as the resolver finds them";
	case NFT_HTTP:
		return "addresses of names that only HTTP and TLS may reach";
	case NFT_ANY:
		return "where '*' does not lead";
	case NFT_ANY_HTTP:
		return "where '*' does not lead, for HTTP and TLS alone";
	case NFT_DENY:
		return "networks that are denied";
	case NFT_GUARD:
		return "addresses of names that are denied on some ports";
	case NFT_ASK:
		return "what stands in for names that a person is asked about";
	case NFT_ASK_CIDR:
		return "networks that a person is asked about";
	case NFT_ASK_ANY:
		return "where '*' does not lead, asked about";
	}
	abort();
}

/* The rules of a class that a kind of destination has. */
static void put_members(struct nft *r, const emit_members *of,
			enum nft_kind kind, enum addr_family f)
{
	emit_members in = {0};

	vec_each(g, of)
		if (nft_kind_is(kind, f, *g))
			*vec_push(r->in->a, &in) = *g;
	comment_grants(r->in, r->out, "\t", &in);
}

static void put_about(struct nft *r, enum nft_kind kind, enum addr_family f,
		      uint32_t k)
{
	const struct nft_side *s = nft_kind_side(r, kind);

	comment_text(r->out, "\t",
		     arena_fmt(r->in->a, "%.*s: %s",
			       STR_ARG(s->classes.v[k].text),
			       metadata_kind(kind)));
	put_members(r, &s->members[k], kind, f);
}

static void put_private(struct nft *r)
{
	const struct nft_side *s = &r->grants;

	nft_about(
		r->out,
		"Private networks, and all that never is public: a name or '*' does not lead there");
	for (uint32_t k = 0; k < r->asks.classes.n; k++)
		if (nft_kind_has(r, NFT_ASK_ANY, ADDR_V4, k))
			put_about(r, NFT_ASK_ANY, ADDR_V4, k);
	for (uint32_t k = 0; k < s->classes.n; k++) {
		if (s->classes.v[k].has_any)
			put_about(r, NFT_ANY, ADDR_V4, k);
		if (s->classes.v[k].has_anyhttp)
			put_about(r, NFT_ANY_HTTP, ADDR_V4, k);
	}
	put_both(r, "private", &r->private);
}

static void put_floor(struct nft *r)
{
	nft_about(
		r->out,
		"The floor: nobody goes there, but where a network inside is granted, which is left out here");
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

/* What is asked about comes before the floor; all else there does not pass. */
static void put_floor_asked(struct nft *r)
{
	each_family(f)
		if (nft_nets_of(&r->floor_asked, *f)->n) {
			nft_about(
				r->out,
				"Parts of the floor that a person is asked about: the rest of what goes there is refused");
			nft_put_ranges(r->out,
				       (struct nft_set){"floorask", *f, 0},
				       nft_nets_of(&r->floor_asked, *f));
		}
}

/* Only where a rule speaks of them: see nft_quic.c. */
static void put_requests(struct nft *r)
{
	each_family(f) {
		const ranges *nets = nft_nets_of(&r->requests, *f);
		size_t *at = arena_array(r->in->a, nets->n + 1, sizeof(*at));

		if (nets->n == 0)
			continue;
		nft_about(
			r->out,
			"Networks in which requests are denied: no QUIC goes there");
		nft_put_ranges_at(r->out, (struct nft_set){"requests", *f, 0},
				  nets, at);
		if (!r->in->marks)
			continue;
		/* one of the other family lies beside all of them */
		vec_each(d, &r->in->policy->deny)
			if (inspection_quic_net(d))
				nft_marks_elements(r, nets, at, d,
						   MARKS_FOR(QUIC));
	}
}

/* The networks of a class, and which of them a grant or denial put there. */
static void put_class(struct nft *r, enum nft_kind kind, enum addr_family f,
		      uint32_t k, uint64_t reasons)
{
	const emit_members *of =
		r->in->marks ? &nft_kind_side(r, kind)->members[k] : NULL;
	const ranges *nets = nft_nets_of(&nft_kind_nets(r, kind)[k], f);
	size_t *at = NULL;

	if (of)
		at = arena_array(r->in->a, nets->n, sizeof(*at));
	put_about(r, kind, f, k);
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
		each_family(f) {
			if (!nft_kind_has(r, kind, *f, k))
				continue;
			if (*f == ADDR_V4)
				put_about(r, kind, *f, k);
			nft_put_dynamic(r->out, nft_kind_set(kind, *f, k));
		}
}

/* Addresses that a QUIC packet must not go to, by the names that lead there. */
static void put_quics(struct nft *r)
{
	for (uint32_t q = 0; q < r->quics.n; q++) {
		emit_members of = {0};

		vec_each(d, &r->in->policy->deny)
			if (emit_quic_of(&r->quics, d) == q + 1)
				*vec_push(r->in->a, &of) = d;
		nft_about(
			r->out,
			"Addresses of names whose requests are denied: no QUIC goes there");
		comment_grants(r->in, r->out, "\t", &of);
		each_family(f)
			nft_put_dynamic(r->out,
					(struct nft_set){NAMES_MAP_SET_QUIC, *f,
							 q + 1});
	}
}

/* The proxy's address and port, which the gate fills in. */
static void put_proxy(struct nft *r)
{
	if (!r->in->policy->upstream.set)
		return;
	nft_about(r->out, "The proxy on the way out, which the gate fills in");
	buf_adds(r->out,
		 "\tset proxy4 {\n\t\ttype ipv4_addr . inet_service\n\t}\n\n"
		 "\tset proxy6 {\n\t\ttype ipv6_addr . inet_service\n\t}\n\n");
}

/* What is past it; addresses of names and the resolver's the gate fills in. */
static void put_past(struct nft *r)
{
	const ir_directs *direct = &r->in->policy->upstream.direct;

	vec_each(d, direct)
		if (ir_dest_net(&d->dest))
			nft_nets_add(r->in->a, &r->past, ir_dest_net(&d->dest));
	nft_nets_settle(&r->past);
	if (r->past.v4.n || r->past.v6.n)
		nft_about(r->out, "Networks that are reached past the proxy");
	each_family(f)
		if (nft_nets_of(&r->past, *f)->n)
			nft_put_ranges(r->out,
				       (struct nft_set){"direct", *f, 0},
				       nft_nets_of(&r->past, *f));
	if (!upstream_asks(r->in->policy))
		return;
	nft_about(
		r->out,
		"Addresses of names that are, as the resolver finds them, and whom it asks");
	each_family(f)
		nft_put_dynamic(r->out,
				(struct nft_set){NAMES_MAP_SET_PAST, *f, 1});
	buf_adds(
		r->out,
		"\tset resolver4 {\n\t\ttype ipv4_addr . inet_service\n\t}\n\n"
		"\tset resolver6 {\n\t\ttype ipv6_addr . inet_service\n\t}\n\n");
}

void nft_sets_put(struct nft *r)
{
	struct nft_nets none = {0};

	put_floor(r);
	put_floor_asked(r);
	nft_about(r->out, "The host's own addresses, which the gate fills in");
	put_both(r, "host", &none);
	put_proxy(r);
	put_past(r);
	if (any_any(&r->grants.classes) || any_any(&r->asks.classes))
		put_private(r);
	put_requests(r);
	put_networks(r, NFT_DENY, MARKS_FOR(DENIED));
	put_networks(r, NFT_CIDR, MARKS_FOR(GRANTED));
	put_networks(r, NFT_CIDR_HTTP, NFT_ONLY_HTTP);
	put_networks(r, NFT_ASK_CIDR, MARKS_FOR(ASK));
	put_dynamic(r, NFT_GUARD);
	put_dynamic(r, NFT_HOST);
	put_dynamic(r, NFT_HTTP);
	put_dynamic(r, NFT_ASK);
	put_quics(r);
}
