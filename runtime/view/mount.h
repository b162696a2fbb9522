/*
 * The mount itself, and folders that are seen past it: all that takes a right.
 */
#ifndef RUNTIME_VIEW_MOUNT_H
#define RUNTIME_VIEW_MOUNT_H

#include "compiler/base/err.h"
#include "compiler/plan/mountsplan.h"

#include <sys/types.h>

must_check int mount_open(int *out_fuse, struct err *err);
/* At a path, whose last part is made where it is missing. */
must_check int mount_view(const char *at, int fuse, uid_t uid, gid_t gid,
			  struct err *err);
/* Whoever is in it stays there; false: there was none. */
bool mount_remove(const char *at);

/* --- fast.c --------------------------------------------------------------- */

/*
 * Mount those that are there, of the workspace source, in the view at. With
 * CAP_SYS_ADMIN, as who may look at all of it, and beside a server that
 * answers. A name that is no folder, or leads over a link, is left to the view.
 */
must_check int fast_bind(int source, const char *at,
			 const struct mountsplan *plan, struct err *err);

#endif
