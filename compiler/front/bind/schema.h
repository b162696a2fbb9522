/*
 * The JSON Schema (draft 2020-12) of what people write, out of
 * grammar/schema.def: for editors, which check a policy while it is typed.
 *
 * It accepts all that the binder accepts, and refuses what is wrong in shape:
 * unknown keys, wrong types, keys that are missing or exclude each other, and
 * words that no regular expression of the grammar fits. The rest (host bits,
 * IDNA, presets that do not exist) is the compiler's to say.
 */
#ifndef COMPILER_FRONT_BIND_SCHEMA_H
#define COMPILER_FRONT_BIND_SCHEMA_H

#include "compiler/base/arena.h"

enum schema_file {
	SCHEMA_POLICY, /* .membrane.yaml, config.yaml, presets */
	SCHEMA_TESTS,  /* *.membrane-test.yaml */
};

/* The text, with an LF at the end. */
struct str schema_text(struct arena *a, enum schema_file file);

#endif
