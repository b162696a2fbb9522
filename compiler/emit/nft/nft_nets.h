/*
 * What goes into the sets of ruleset.nft that hold networks.
 */
#ifndef COMPILER_EMIT_NFT_NFT_NETS_H
#define COMPILER_EMIT_NFT_NFT_NETS_H

#include "compiler/emit/emit.h"
#include "compiler/emit/nft/ranges.h"

struct nft_nets {
	ranges v4, v6;
};

ranges *nft_nets_of(struct nft_nets *n, enum addr_family family);
/* Between the first and what reads them: nft_nets_settle(). */
void nft_nets_add(struct arena *a, struct nft_nets *n, const struct cidr *net);
void nft_nets_settle(struct nft_nets *n);
/* Those of grants without http, of grants with, of all. */
enum nft_nets_which { NFT_NETS_WHOLE, NFT_NETS_HTTP, NFT_NETS_ALL };
/* The networks of each class, by class from 0. The floor's are left out. */
struct nft_nets *nft_nets_classes(const struct emit_in *in,
				  const emit_classes *classes,
				  const ir_grants *grants,
				  enum nft_nets_which which);
/*
 * The floor without what more specific grants open of it, each entry carved by
 * itself.
 */
void nft_nets_floor(const struct emit_in *in, struct nft_nets *out);
/* What is left out of that for the sake of what is asked about alone. */
void nft_nets_floor_asked(const struct emit_in *in, struct nft_nets *out);
/* What '*' does not open: all that is not public, the carved floor included. */
void nft_nets_private(struct arena *a, struct nft_nets *out);

#endif
