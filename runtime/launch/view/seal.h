/*
 * The seal as a file of the session: what is loaded into the agent's first
 * process before anything else, and what that is before it is the command. The
 * program is runtime/seal, and lies in this one.
 */
#ifndef RUNTIME_LAUNCH_VIEW_SEAL_H
#define RUNTIME_LAUNCH_VIEW_SEAL_H

#include "compiler/base/arena.h"
#include "compiler/base/err.h"
#include "compiler/base/str.h"

/* In the folder, readable for all; whatever is there is replaced. */
must_check int seal_write(const char *folder, struct err *err);
struct str seal_bytes(void);
/* The command, begun by that file; in the arena. Both end with NULL. */
char *const *seal_command(struct arena *a, char *const *command);

#endif
