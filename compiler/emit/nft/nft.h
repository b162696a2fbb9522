/*
 * ruleset.nft: the packet filter of one session, for the gate's namespace.
 *
 * One table, loaded in one transaction into a namespace that has none, and
 * byte for byte what nft then lists. Sets that are empty here are filled by
 * the gate: host4/6 once, with the addresses of the host; host4_K/6_K by the
 * resolver. The rest never changes.
 */
#ifndef COMPILER_EMIT_NFT_NFT_H
#define COMPILER_EMIT_NFT_NFT_H

#include "compiler/emit/emit.h"

bool nft_emit(const struct emit_in *in, struct buf *out);

#endif
