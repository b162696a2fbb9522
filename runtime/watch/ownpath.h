/*
 * What the workspace is called in filters: "/workspace", on every machine. A
 * session may have it at its own path, too, and its records say so where the
 * command works there. Such a path counts under both names.
 *
 * Pure.
 */
#ifndef RUNTIME_WATCH_OWNPATH_H
#define RUNTIME_WATCH_OWNPATH_H

#include "compiler/base/str.h"

#include <limits.h>

#define OWNPATH_WORKSPACE "/workspace"
#define OWNPATH_MAX	  (2 * PATH_MAX)

/*
 * path as "/workspace/…" into buf, and *out leads there. False where it is not
 * below own (empty: the workspace has no other place), or too long.
 */
bool ownpath_other(struct str own, struct str path, char buf[OWNPATH_MAX],
		   struct str *out);

#endif
