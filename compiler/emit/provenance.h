/*
 * provenance.json: from the id of a grant or a denial to what it says and
 * where it was written. A line that moves changes this, the comments that say
 * the same in gate.cfg and ruleset.nft, and the digest of the source: nothing
 * that anybody decides by. Access is compared by policy.json.
 */
#ifndef COMPILER_EMIT_PROVENANCE_H
#define COMPILER_EMIT_PROVENANCE_H

#include "compiler/emit/emit.h"

bool provenance_emit(const struct emit_in *in, struct buf *out);

#endif
