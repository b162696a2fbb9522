/*
 * names.map: which names resolve, and which sets their addresses go into.
 *
 *	membrane-names 1
 *	upstream udp 8.8.8.8 53
 *	floor 169.254.0.0/16
 *	private 10.0.0.0/8
 *	cover 10.1.0.0/16
 *	name *.github.com 1 - g-0123456789
 *	name api.test h2 - g-0123456789
 *	deny evil.github.com d-0123456789
 *	guard *.test 1 d-0123456789
 *
 * An answer is dropped when it lies in a floor network, unless a cover line
 * inside that network, and longer than it, holds it; or in a private one,
 * unless a cover line holds it or a matching name line says private. A name
 * line with '-' for its class resolves and opens nothing by itself; one with
 * 'h' fills http4_K instead of host4_K. A denied name does not resolve. The
 * addresses that are kept of a guarded one go into guard4_K, too.
 */
#ifndef COMPILER_EMIT_NAMES_H
#define COMPILER_EMIT_NAMES_H

#include "compiler/emit/emit.h"

bool names_emit(const struct emit_in *in, struct buf *out);

#endif
