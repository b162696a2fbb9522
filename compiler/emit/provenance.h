/*
 * provenance.json: from the id of a grant or a denial to what it says and
 * where it was written. The one artefact that holds places: a line that moves
 * changes this and the digest of the source, nothing else.
 */
#ifndef COMPILER_EMIT_PROVENANCE_H
#define COMPILER_EMIT_PROVENANCE_H

#include "compiler/emit/emit.h"

bool provenance_emit(const struct emit_in *in, struct buf *out);

#endif
