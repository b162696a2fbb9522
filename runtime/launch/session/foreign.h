/*
 * What another user left in the state folder.
 *
 * The folder belongs to whose home it is in, and so does what root makes there
 * (fileio.h). Where something is another's all the same, as after a run of an
 * older version as root, it is said and passed over: what a session cannot do
 * without is put aside, other users' session folders are left alone.
 */
#ifndef RUNTIME_LAUNCH_SESSION_FOREIGN_H
#define RUNTIME_LAUNCH_SESSION_FOREIGN_H

#include "compiler/base/arena.h"
#include "compiler/base/err.h"

#include <sys/stat.h>

/* Is it another user's? Never for root. */
bool foreign_is(const struct stat *st);
/*
 * Before a session begins; said on stderr unless quiet.
 *   -EACCES  the state folder itself cannot be used: *err says what to do
 */
must_check int foreign_set_aside(struct arena *a, const char *state, bool quiet,
				 struct err *err);

#endif
