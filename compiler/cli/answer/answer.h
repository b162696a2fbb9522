/*
 * Asking who sits at this terminal about a question that waits.
 */
#ifndef COMPILER_CLI_ANSWER_ANSWER_H
#define COMPILER_CLI_ANSWER_ANSWER_H

#include "compiler/cli/frame/options.h"
#include "runtime/launch/session/metadata.h"

/*
 * The two halves of it, of a session that runs, for whoever does other things
 * until somebody has typed; o as of the command line. What went wrong is said.
 * The exit status.
 *
 * Show on the terminal what an answer would permit; the answers there are, for
 * a prompt.
 */
must_check int answer_show(struct arena *a, const struct options *o,
			   const struct metadata *about, uint32_t id, int tty,
			   struct str *out_choices);
/* Give the answer that was typed: as it is then, whatever came meanwhile. */
must_check int answer_typed(struct arena *a, const struct options *o,
			    const struct metadata *about, uint32_t id,
			    const char *typed);

#endif
