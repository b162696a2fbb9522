/*
 * What one verb has of another.
 */
#ifndef COMPILER_CLI_PARTS_H
#define COMPILER_CLI_PARTS_H

#include "compiler/base/arena.h"
#include "compiler/base/err.h"

/* That of an agent, and those that each session has, where they are missing or
 * old. Says on stderr what it does.
 *   -ENOENT  what they are built from is not installed
 *   -EIO     one could not be built */
must_check int images_build_for(struct arena *a, const char *agent,
				struct err *err);

#endif
