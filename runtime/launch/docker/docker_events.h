/*
 * What Docker does beside the caller's own work: the event stream of a
 * session, and a request that nobody waits for.
 *
 * Both only make things known, or done, earlier: when the stream breaks nothing
 * is reported, and nothing may depend on it.
 */
#ifndef RUNTIME_LAUNCH_DOCKER_DOCKER_EVENTS_H
#define RUNTIME_LAUNCH_DOCKER_DOCKER_EVENTS_H

#include "runtime/launch/docker/docker.h"
#include "runtime/launch/engine/engine.h"

/* Follow the containers of one session, until docker_close(). */
must_check int docker_follow(struct docker *d, const char *session,
			     engine_on_event *on_event, void *ctx,
			     struct err *err);
/*
 * Wait until one of fds (POLLIN, POLLOUT; one below 0 is left out) is ready or
 * closed, or something came on the event stream (on_event has been called
 * then), or timeout_ms went by. At most ENGINE_FDS_MAX. The caller reads its
 * descriptors without blocking afterwards, whatever woke it.
 */
must_check int docker_poll(struct docker *d, const struct pollfd *fds,
			   size_t n_fds, int timeout_ms, struct err *err);
/*
 * Begin to take a container off a network, once; docker_poll() sees to the
 * rest. It only makes room earlier: nobody learns how it went, and the
 * container's end does the same.
 */
void docker_leave(struct docker *d, const char *network, const char *container);

#endif
