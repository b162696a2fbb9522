/*
 * The plan that ran last in a workspace: ~/.membrane/last/HASH, where HASH is
 * the beginning of the SHA-256 of the workspace's path.
 */
#ifndef COMPILER_CLI_WORKSPACE_LAST_H
#define COMPILER_CLI_WORKSPACE_LAST_H

#include "compiler/plan/plan.h"

#define LAST_KEEP 200u /* workspaces, the ones that were used last */

/* NULL when none ran here, or what is there cannot be read any more. */
const struct plan *last_read(struct arena *a, const char *state,
			     const char *workspace);
must_check int last_write(struct arena *a, const char *state,
			  const char *workspace, const struct plan *p,
			  struct err *err);

#endif
