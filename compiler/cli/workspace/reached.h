/*
 * By which name the workspace was reached.
 *
 * `cd sub` is not where it seems when sub is a link, and a link may be an
 * agent's work: the next session would have what it leads to as its workspace,
 * to read and to write. So a link on the way is said, and one that lies where
 * an agent wrote is a question.
 */
#ifndef COMPILER_CLI_WORKSPACE_REACHED_H
#define COMPILER_CLI_WORKSPACE_REACHED_H

#include "compiler/cli/workspace/inputs.h"

/*
 * in->link and in->agents_link, from where, which stands for in->workspace. A
 * relative one begins at $PWD, where that is the current folder; in->state is
 * known.
 *   -ESTALE  it leads elsewhere by now
 */
must_check int reached_find(struct arena *a, const char *where,
			    struct inputs *in, struct err *err);
/* One line, when there was a link; for those who begin no session. */
void reached_say(struct arena *a, const struct inputs *in);
/*
 * May a session begin there? Says what reached_say() does, and asks about a
 * link that an agent may have made. False: said why, and what to type.
 */
must_check bool reached_allowed(struct arena *a, const struct inputs *in);

#endif
