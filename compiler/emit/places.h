/*
 * Where the rules of a plan were written, as its own provenance.json has it:
 * for comments of what is compiled from its policy.json, where everything
 * stands somewhere else.
 */
#ifndef COMPILER_EMIT_PLACES_H
#define COMPILER_EMIT_PLACES_H

#include "compiler/base/arena.h"

struct places;

/* text: a provenance.json. One that is none has no places. */
struct places *places_read(struct arena *a, struct str text);
/* Untouched where it does not know the id. */
void places_find(const struct places *p, struct str id, struct str *out_source,
		 uint32_t *out_line);

#endif
