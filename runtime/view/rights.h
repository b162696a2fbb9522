/*
 * Rights only shrink: what the two processes of the view give up, and when.
 */
#ifndef RUNTIME_VIEW_RIGHTS_H
#define RUNTIME_VIEW_RIGHTS_H

#include "compiler/base/err.h"

#include <sys/types.h>

/* Look at files as the owner does; this process keeps its capabilities. */
must_check int rights_to_look(uid_t uid, gid_t gid, struct err *err);
/* The server: the owner's ids, no group, no capability, for ever; it ends with
 * the process parent. */
must_check int rights_of_owner(uid_t uid, gid_t gid, pid_t parent,
			       struct err *err);
/* The supervisor, with a server: what it takes to unmount. */
must_check int rights_to_unmount(struct err *err);
/* And then nothing. */
must_check int rights_none(struct err *err);

#endif
