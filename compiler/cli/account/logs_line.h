/*
 * One decision of the gate, for people.
 */
#ifndef COMPILER_CLI_ACCOUNT_LOGS_LINE_H
#define COMPILER_CLI_ACCOUNT_LOGS_LINE_H

#include "compiler/cli/text/view.h"

/* line: of decisions.jsonl. False when it is no decision. */
must_check bool logs_line(const struct view *v, struct str line);

#endif
