/*
 * Who listens for the questions of a session, and could answer: each holds
 * SESSION_ASKING, a file of the session's, with flock(2), shared. The kernel
 * lets go of it for who ends, but not for who was stopped (Ctrl-Z, SIGSTOP):
 * /proc says who holds it, and what has become of that.
 */
#ifndef RUNTIME_LAUNCH_LISTENERS_H
#define RUNTIME_LAUNCH_LISTENERS_H

#include "compiler/base/err.h"

#include <stdbool.h>

/*
 * For who may answer: as long as *out_fd is open, questions of the session with
 * this folder wait.
 *   -ENOENT  the session is not there any more
 */
must_check int listeners_join(const char *dir, int *out_fd, struct err *err);
/* Whether somebody who is not stopped does now. */
bool listeners_any(const char *dir);

#endif
