/*
 * What the workspace, as it is now, does to a path beside the policy: what git
 * runs or reads is read-only, what links of hidden files lead to is hidden.
 */
#ifndef COMPILER_CLI_EXPLAIN_EXPLAIN_FOUND_H
#define COMPILER_CLI_EXPLAIN_EXPLAIN_FOUND_H

#include "compiler/cli/explain/explain_model.h"

/*
 * out has what the policy decides of a path. Where that permits and the
 * workspace does not, the decision becomes another one, without a rule; where
 * it refuses and the workspace would, too, that is noted.
 */
void explain_found(struct arena *a, struct found *f, struct explanation *out);

#endif
