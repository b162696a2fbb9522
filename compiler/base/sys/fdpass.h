/*
 * A message over a socket of AF_UNIX, and one descriptor with it (SCM_RIGHTS,
 * unix(7)).
 */
#ifndef COMPILER_BASE_SYS_FDPASS_H
#define COMPILER_BASE_SYS_FDPASS_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Send n bytes, with a descriptor that stays the caller's; fd -1: with none.
 * flags are sendmsg(2)'s, MSG_NOSIGNAL is added. False, and errno: not all of
 * it was sent.
 */
_Bool fdpass_send(int to, const void *data, size_t n, int fd, int flags);

/*
 * Receive at most n bytes: how many, as recvmsg(2) says it, -1 and errno
 * included; it does not end at a signal. *out_fd: what came with it, closed on
 * exec, for the caller to close; -1: nothing, or more than one.
 */
ssize_t fdpass_take(int from, void *data, size_t n, int *out_fd, int flags);

#endif
