/*
 * The mount itself: the only thing that takes a right.
 */
#ifndef RUNTIME_VIEW_MOUNT_H
#define RUNTIME_VIEW_MOUNT_H

#include "compiler/base/err.h"

#include <sys/types.h>

must_check int mount_open(int *out_fuse, struct err *err);
/* At a path, whose last part is made where it is missing. */
must_check int mount_view(const char *at, int fuse, uid_t uid, gid_t gid,
			  struct err *err);
/* Whoever is in it stays there; false: there was none. */
bool mount_remove(const char *at);

#endif
