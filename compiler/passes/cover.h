/*
 * Which grant of a list holds all of another: for additions.
 *
 * Answers fast and may miss what only an exhaustive search would find (two
 * grants that hold a third together, patterns with a '*' in their middle);
 * what it finds is true.
 */
#ifndef COMPILER_PASSES_COVER_H
#define COMPILER_PASSES_COVER_H

#include "compiler/ir/ir.h"

struct cover;

/* Grants are normalised and borrowed. */
struct cover *cover_new(struct arena *a, const ir_grants *grants);
/*
 * A grant whose addresses or names hold all of g's and whose ports hold all of
 * g's: itself without http rules, or with the same canonical text. It also
 * opens the private addresses and the parts of the floor that g opens. NULL
 * when none was found.
 */
const struct ir_grant *cover_find(const struct cover *c,
				  const struct ir_grant *g);

#endif
