/*
 * The smallest edits of a policy that turn one decision over.
 *
 * Each is made in the text of a source, compiled, and asked for the decision:
 * what is returned does give the other verdict. Narrowest first: what is added
 * speaks of the request alone, and nothing that was written is widened to more
 * than it. Nothing on disk changes.
 */
#ifndef COMPILER_CLI_EXPLAIN_EXPLAIN_EDITS_H
#define COMPILER_CLI_EXPLAIN_EXPLAIN_EDITS_H

#include "compiler/algebra/compare/compare.h"
#include "compiler/cli/explain/explain_hunks.h"
#include "compiler/cli/explain/explain_model.h"
#include "compiler/cli/workspace/inputs.h"

/* What an edit does to connections, requests, names and arguments. */
struct explain_effect {
	enum access_way way;
	struct str text; /* "tcp/22 github.com" */
};

struct explain_edit {
	explain_hunks hunks;
	VEC(struct explain_effect) effects;
	explain_texts left_out; /* flags: "-n github.com" */
};

struct explain_flip {
	VEC(struct explain_edit) edits; /* each by itself is enough */
	/* What else is to be said: why there is none, who may do it. */
	VEC(const char *) notes;
};

/* The verdict that they give. */
enum verdict explain_edits_turned(const struct decision *d);
/* e was made of c, which in compiled to; all is in the arena. */
void explain_edits_find(struct arena *a, const struct inputs *in,
			const struct compilation *c,
			const struct explanation *e, struct explain_flip *out);

#endif
