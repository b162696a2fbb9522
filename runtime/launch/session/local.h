/*
 * Sockets in a session's folder, by which processes of one user meet.
 *
 * The name of such a socket may be short only (108 bytes), and that of the
 * folder need not be: both are made from within it. For a process with one
 * thread. The folder is 0700; no container has it mounted.
 */
#ifndef RUNTIME_LAUNCH_SESSION_LOCAL_H
#define RUNTIME_LAUNCH_SESSION_LOCAL_H

#include "compiler/base/err.h"

#include <sys/types.h>

/* Both: a descriptor that does not block, close-on-exec, in *out. */
must_check int local_listen(const char *dir, const char *name, int backlog,
			    int *out, struct err *err);
/* -ENOENT: nobody listens. This one blocks. */
must_check int local_connect(const char *dir, const char *name, int *out,
			     struct err *err);
/* Who is at the other end, as the kernel says. */
must_check int local_peer(int fd, uid_t *out, struct err *err);

#endif
