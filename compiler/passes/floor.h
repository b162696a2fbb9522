/*
 * The built-in floor: what holds under every policy, as a document of its own.
 */
#ifndef COMPILER_PASSES_FLOOR_H
#define COMPILER_PASSES_FLOOR_H

#include "compiler/passes/passes.h"

/*
 * The floor as LAYER_FLOOR: denials of the addresses that nothing has any
 * business with, read-only patterns, and a value for each scalar that has a
 * default. Its text becomes the source "builtin", so that its spans show.
 */
void floor_doc(struct pass_ctx *c, struct doc *out);

#endif
