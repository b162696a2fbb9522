/*
 * The part of normalise that other passes need for a grant by itself.
 */
#ifndef COMPILER_PASSES_NORMALISE_H
#define COMPILER_PASSES_NORMALISE_H

#include "compiler/passes/passes.h"

/*
 * Ports, http rules and canonical text of one bound grant, not poison; no id.
 * In place, but what it shares with the bound document stays as it is.
 */
void normalise_grant(struct arena *a, struct ir_grant *g);

#endif
