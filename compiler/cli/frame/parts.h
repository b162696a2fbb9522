/*
 * What the files of this folder share: help, man pages, and their text.
 */
#ifndef COMPILER_CLI_FRAME_PARTS_H
#define COMPILER_CLI_FRAME_PARTS_H

#include "compiler/base/buf.h"
#include "compiler/cli/frame/command.h"

/* --- help.c --------------------------------------------------------------- */

void help_overview(struct buf *out);
void help_command(struct buf *out, enum command_id id);
/* To stdout; the exit status. */
must_check int help_print(struct arena *a, enum command_id id);

/* --- help_trace.c --------------------------------------------------------- */

/* The expressions that `trace` takes, in lines. */
const char *help_filter(void);
/* False, and nothing written, for any other word. */
bool help_trace(struct buf *out, struct str word);

/* --- man.c ---------------------------------------------------------------- */

/*
 * The page of "membrane", of "policy" or of a subcommand. False, and nothing
 * written, when name is none of these.
 */
must_check bool man_write(struct buf *out, struct str name);

/* --- man_keys.c ----------------------------------------------------------- */

/* A subsection in mdoc(7) for each mapping, in their order. */
void man_keys(struct buf *out);
/*
 * Those of the top level, to fit a terminal; of two that mean the same, which
 * stand side by side, the first.
 */
void man_keys_overview(struct buf *out);

/* --- man_text.c ----------------------------------------------------------- */

/* At the beginning of a line, or further on in one; no LF is added. */
void man_text(struct buf *out, const char *s);
/* One argument of a macro, in quotes. */
void man_argument(struct buf *out, const char *s);

#endif
