/*
 * An explanation as text for a terminal.
 */
#ifndef COMPILER_CLI_EXPLAIN_EXPLAIN_VIEW_H
#define COMPILER_CLI_EXPLAIN_EXPLAIN_VIEW_H

#include "compiler/cli/explain/explain_edits.h"
#include "compiler/cli/text/view.h"

void explain_view(const struct view *v, const struct compilation *c,
		  const struct explanation *e, const struct explain_flip *flip);

#endif
