/*
 * `--help`, `help` and `version`: written from the tables, at most 24 lines
 * of 80 columns each, so that they fit a terminal.
 */
#ifndef COMPILER_CLI_FRAME_HELP_H
#define COMPILER_CLI_FRAME_HELP_H

#include "compiler/base/buf.h"
#include "compiler/cli/frame/command.h"

void help_overview(struct buf *out);
void help_command(struct buf *out, enum command_id id);
/* To stdout; the exit status. */
must_check int help_print(struct arena *a, enum command_id id);

#endif
