/*
 * Rights only shrink: what the two processes of the view give up, and when.
 */
#ifndef RUNTIME_VIEW_RIGHTS_H
#define RUNTIME_VIEW_RIGHTS_H

#include "compiler/base/err.h"

#include <stdbool.h>
#include <sys/types.h>

/* Look at files as the owner does; this process keeps its capabilities. */
must_check int rights_to_look(uid_t uid, gid_t gid, struct err *err);
/* The server: the owner's ids, no group, no capability, for ever; it ends with
 * the process parent. */
must_check int rights_of_owner(uid_t uid, gid_t gid, pid_t parent,
			       struct err *err);
/*
 * In a process that was just forked into a namespace of processes: it sees no
 * others from here on, through /proc neither.
 */
must_check int rights_alone(struct err *err);
/* The supervisor, with a server: what it takes to unmount; looks: and to see
 * what program a process runs. */
must_check int rights_to_unmount(bool looks, struct err *err);
/* And then nothing, or the latter. */
must_check int rights_to_look_on(bool looks, struct err *err);
/* Without them for a moment, and with them again. */
must_check bool rights_use(bool use);
/* Are our files that user's, and of that group? */
bool rights_are_of(uid_t uid, gid_t gid);

#endif
