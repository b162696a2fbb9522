/*
 * What is said beside the edits: why there are none, and whose they are.
 */
#ifndef COMPILER_CLI_EXPLAIN_EXPLAIN_NOTES_H
#define COMPILER_CLI_EXPLAIN_EXPLAIN_NOTES_H

#include "compiler/cli/explain/explain_edits.h"

/* The user's own file, as sources are named. */
#define EXPLAIN_GLOBAL STR("~/.membrane/config.yaml")

/* Into out->notes, of out->edits as they are. */
void explain_notes_find(struct arena *a, const struct compilation *c,
			const struct explanation *e, struct explain_flip *out);

#endif
