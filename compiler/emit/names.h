/*
 * names.map: which names resolve, and which sets their addresses go into.
 *
 *	membrane-names 1
 *	upstream udp 8.8.8.8 53
 *	floor 169.254.0.0/16
 *	private 10.0.0.0/8
 *	cover 10.1.0.0/16
 *	name *.github.com 1,2 - g-0123456789
 *
 * An answer is dropped when it lies in a floor network, unless a cover line
 * inside that network, and longer than it, holds it; or in a private one,
 * unless a cover line holds it or a matching name line says private. A name
 * line with '-' for its classes resolves and opens nothing by itself.
 */
#ifndef COMPILER_EMIT_NAMES_H
#define COMPILER_EMIT_NAMES_H

#include "compiler/emit/emit.h"

bool names_emit(const struct emit_in *in, struct buf *out);

#endif
