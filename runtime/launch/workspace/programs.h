/*
 * Where programs of the host are taken from: docker, git.
 *
 * PATH may name folders that an agent writes to, as node_modules/.bin; what it
 * leaves there under the name of docker would run as the user.
 */
#ifndef RUNTIME_LAUNCH_WORKSPACE_PROGRAMS_H
#define RUNTIME_LAUNCH_WORKSPACE_PROGRAMS_H

#include "runtime/launch/workspace/workspaces.h"

/*
 * Keep in this process's PATH only the folders that are named by an absolute
 * path and lie in no folder of an agent's; those of the system where none is
 * left. Before anything is started.
 */
void programs_trust_path(const struct workspaces_ask *ask);

#endif
