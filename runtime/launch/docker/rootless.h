/*
 * A daemon that a user runs without root lives in namespaces of its own: what a
 * container mounts appears in there alone, and who is root in there is that
 * user. So a session of such a daemon is looked after from in there.
 *
 * Which namespaces those are the kernel says of the process that answers at the
 * socket. The network's stays what it was: ports of the host are the host's.
 */
#ifndef RUNTIME_LAUNCH_DOCKER_ROOTLESS_H
#define RUNTIME_LAUNCH_DOCKER_ROOTLESS_H

#include "runtime/launch/docker/endpoint.h"

#include <sys/types.h>

/*
 * Go into the namespaces of users and mounts of the daemon at e, for good,
 * where it is this user's own and has others than this process. Where it is not
 * rootless, where nobody answers, and where the kernel does not tell, nothing
 * is done. The working folder is the one of the same name. This process must
 * have one thread.
 *   -EPERM   root asks, and the daemon is a user's
 *   -ENOENT  the working folder is not there
 *   other    the kernel refuses; *err says what
 */
must_check int rootless_enter(const struct endpoint *e, struct err *err);
/* It was done: user 0 is who began this process. */
bool rootless_entered(void);
/* Who began this process, as the host counts. */
uid_t rootless_user(void);

#endif
