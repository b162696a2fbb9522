/*
 * A plan that was written earlier, held against what the policy compiles to
 * now: `check`, and `run --plan`.
 *
 * Every file is compared byte for byte, so that an artefact which was edited
 * by hand is found even when somebody mended the hashes in the manifest.
 */
#ifndef COMPILER_COMMANDS_SEALED_H
#define COMPILER_COMMANDS_SEALED_H

#include "compiler/commands/inputs.h"

/*
 * .membrane/plan in the workspace: what is compiled there unless -o says.
 * -ELOOP when a link is on the way: a cloned repository does not choose what
 * outside of it is written or shown.
 */
must_check int sealed_default(struct arena *a, const char *workspace,
			      const char **out_dir, struct err *err);
/* dir as it is named to people: relative to the workspace when inside it. */
struct str sealed_short(struct str dir, const struct inputs *in);

/*
 * Compare dir with now. True when they are the same; otherwise report holds
 * the lines to print, the first of which names dir. Negative: it cannot be
 * read.
 */
must_check int sealed_compare(struct arena *a, const char *dir,
			      const struct inputs *in, const struct plan *now,
			      bool *out_same, struct buf *report,
			      struct err *err);

#endif
