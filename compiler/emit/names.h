/*
 * names.map, whose format is compiler/plan/names_map.h.
 *
 * An answer is dropped when it lies in a floor network, unless a cover line
 * inside that network, and longer than it, holds it; or in a private one,
 * unless a cover line holds it or a matching name line says private.
 */
#ifndef COMPILER_EMIT_NAMES_H
#define COMPILER_EMIT_NAMES_H

#include "compiler/emit/emit.h"

bool names_emit(const struct emit_in *in, struct buf *out);

#endif
