/*
 * An explanation as text for a terminal.
 */
#ifndef COMPILER_COMMANDS_EXPLAIN_VIEW_H
#define COMPILER_COMMANDS_EXPLAIN_VIEW_H

#include "compiler/commands/explain_edits.h"
#include "compiler/commands/view.h"

void explain_view(const struct view *v, const struct compilation *c,
		  const struct explanation *e, const struct explain_flip *flip);

#endif
