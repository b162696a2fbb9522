/* The kinds of networks that ruleset.nft has sets for. */
#include "compiler/emit/nft/nft_parts.h"

#include "compiler/plan/names_map.h"

#include <stdlib.h>

const enum addr_family nft_families[2] = {ADDR_V4, ADDR_V6};
const enum ir_proto nft_protos[2] = {IR_PROTO_TCP, IR_PROTO_UDP};

const struct nft_side *nft_kind_side(const struct nft *r, enum nft_kind kind)
{
	switch (kind) {
	case NFT_DENY:
	case NFT_GUARD:
		return &r->denials;
	case NFT_ASK:
	case NFT_ASK_CIDR:
	case NFT_ASK_ANY:
		return &r->asks;
	case NFT_CIDR:
	case NFT_CIDR_HTTP:
	case NFT_HOST:
	case NFT_HTTP:
	case NFT_ANY:
	case NFT_ANY_HTTP:
		return &r->grants;
	}
	abort();
}

/* What is private is the same for every class. */
struct nft_set nft_kind_set(enum nft_kind kind, enum addr_family f, uint32_t k)
{
	switch (kind) {
	case NFT_CIDR:
		return (struct nft_set){"cidr", f, k + 1};
	case NFT_CIDR_HTTP:
		return (struct nft_set){"cidrhttp", f, k + 1};
	case NFT_HOST:
		return (struct nft_set){NAMES_MAP_SET_GRANT, f, k + 1};
	case NFT_HTTP:
		return (struct nft_set){NAMES_MAP_SET_HTTP, f, k + 1};
	case NFT_ANY:
	case NFT_ANY_HTTP:
	case NFT_ASK_ANY:
		return (struct nft_set){"private", f, 0};
	case NFT_DENY:
		return (struct nft_set){"deny", f, k + 1};
	case NFT_GUARD:
		return (struct nft_set){NAMES_MAP_SET_DENIAL, f, k + 1};
	case NFT_ASK:
		return (struct nft_set){NAMES_MAP_SET_ASK, f, k + 1};
	case NFT_ASK_CIDR:
		return (struct nft_set){"cidrask", f, k + 1};
	}
	abort();
}

struct nft_nets *nft_kind_nets(const struct nft *r, enum nft_kind kind)
{
	switch (kind) {
	case NFT_CIDR:
		return r->grant_nets;
	case NFT_CIDR_HTTP:
		return r->http_nets;
	case NFT_DENY:
		return r->denial_nets;
	case NFT_ASK_CIDR:
		return r->ask_nets;
	case NFT_HOST:
	case NFT_HTTP:
	case NFT_ANY:
	case NFT_ANY_HTTP:
	case NFT_GUARD:
	case NFT_ASK:
	case NFT_ASK_ANY:
		break;
	}
	abort();
}

bool nft_kind_has(const struct nft *r, enum nft_kind kind, enum addr_family f,
		  uint32_t k)
{
	const struct emit_class *class = &nft_kind_side(r, kind)->classes.v[k];

	switch (kind) {
	case NFT_CIDR:
	case NFT_CIDR_HTTP:
	case NFT_DENY:
	case NFT_ASK_CIDR:
		return nft_nets_of(&nft_kind_nets(r, kind)[k], f)->n > 0;
	case NFT_HOST:
	case NFT_GUARD:
		return class->has_name;
	case NFT_HTTP:
		return class->has_http;
	case NFT_ANY:
		return class->has_any;
	case NFT_ANY_HTTP:
		return class->has_anyhttp;
	case NFT_ASK:
		return class->has_name || class->has_http || class->has_any ||
		       class->has_anyhttp;
	case NFT_ASK_ANY:
		return class->has_any || class->has_anyhttp;
	}
	abort();
}

bool nft_kind_is(enum nft_kind kind, enum addr_family f,
		 const struct ir_grant *g)
{
	const struct cidr *net = ir_dest_net(&g->dest);
	bool http = ir_grant_http(g), any = g->dest.kind == IR_DEST_ANY;
	bool named = !net && (!any || g->private.v);

	switch (kind) {
	case NFT_CIDR:
	case NFT_DENY:
		return net && !http && net->addr.family == f;
	case NFT_CIDR_HTTP:
		return net && http && net->addr.family == f;
	case NFT_HOST:
	case NFT_GUARD:
		return named && !http;
	case NFT_HTTP:
		return named && http;
	case NFT_ANY:
		return any && !http;
	case NFT_ANY_HTTP:
		return any && http;
	case NFT_ASK:
		return !net; /* names lead to stand-ins, of '*' as well */
	case NFT_ASK_CIDR:
		return net && net->addr.family == f;
	case NFT_ASK_ANY:
		return any;
	}
	abort();
}
