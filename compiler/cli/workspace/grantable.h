/*
 * Whether a name that somebody asked for could stand in `allow`.
 */
#ifndef COMPILER_CLI_WORKSPACE_GRANTABLE_H
#define COMPILER_CLI_WORKSPACE_GRANTABLE_H

#include "compiler/base/arena.h"
#include "compiler/base/str.h"

/* By the grammar of destinations itself; one host, no pattern. */
bool grantable(struct arena *a, struct str name);

#endif
