/*
 * Another text for a policy that a session's agent has mounted.
 *
 * The file is written over, not replaced: the agent's read-only mount holds
 * that file, and another one in its place would not be read-only. A crash in
 * between would leave a mixture of both texts. So both are on the disk, in
 * ~/.membrane/saving where no agent gets to, before the first byte of the file
 * is touched, and what comes to read the policy next puts the old one back.
 */
#ifndef COMPILER_CLI_WORKSPACE_SAVING_H
#define COMPILER_CLI_WORKSPACE_SAVING_H

#include "compiler/base/arena.h"
#include "compiler/base/err.h"

/*
 * file: in the workspace, which is absolute; a regular one, with the text
 * before. Both are UTF-8. Otherwise the file is as it was:
 *   -ESTALE  it has another text by now
 *   -EBUSY   somebody else is saving there
 *   -ENOSPC, -EDQUOT, -EFBIG  no room
 */
must_check int saving_write(struct arena *a, const char *state,
			    const char *workspace, struct str file,
			    struct str before, struct str after,
			    struct err *err);
/*
 * The first text of a policy.
 *   -EEXIST  there is one by now, or something else of that name
 */
must_check int saving_new(struct arena *a, const char *workspace,
			  struct str file, struct str text, struct err *err);
/*
 * After a saving_write() that never came to its end: its file has the text
 * that it had, and *out_what says so to people; NULL when there was nothing to
 * do. A text that is neither nor a mixture is somebody's work since: it stays.
 *   -EBUSY  somebody is saving there just now, and does not get done
 */
must_check int saving_recover(struct arena *a, const char *state,
			      const char *workspace, const char **out_what,
			      struct err *err);

#endif
