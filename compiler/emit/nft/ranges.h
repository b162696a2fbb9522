/*
 * Sets of addresses of one family as sorted ranges without overlap.
 */
#ifndef COMPILER_EMIT_NFT_RANGES_H
#define COMPILER_EMIT_NFT_RANGES_H

#include "compiler/base/addr.h"
#include "compiler/base/buf.h"

struct range {
	struct addr lo, hi; /* inclusive */
};
typedef VEC(struct range) ranges;

/* Append; ranges_settle() before anything else is done with them. */
void ranges_add(struct arena *a, ranges *r, const struct cidr *net);
/* Sort; join what overlaps or touches. */
void ranges_settle(ranges *r);
/* What is in from and not in less; both settled. */
ranges ranges_minus(struct arena *a, const ranges *from, const ranges *less);
/* "192.0.2.1", "192.0.2.0/24" or "192.0.2.1-192.0.2.9", as nft lists it. */
void ranges_print(struct buf *out, const struct range *r);

#endif
