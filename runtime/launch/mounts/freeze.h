/*
 * Other sessions' agents, stopped while this session starts.
 *
 * What is stopped stands in {state}/sessions/ID/frozen, a container's ID a
 * line, before it is: whoever comes after a kill -9 of the launcher (its
 * watchdog, the next membrane, the launcher of a session that was stopped) lets
 * it go on from there. An agent that several starting sessions want stopped
 * goes on with the last of them; one that a person paused stays paused.
 */
#ifndef RUNTIME_LAUNCH_MOUNTS_FREEZE_H
#define RUNTIME_LAUNCH_MOUNTS_FREEZE_H

#include "runtime/launch/docker/docker_session.h"
#include "runtime/launch/session/session.h"

#define FREEZE_LOCK                                                            \
	"starts.lock" /* held for all of this; in the state folder */

/*
 * Stop one; the caller has FREEZE_LOCK. One that has ended is no error.
 * Others: Docker cannot stop it.
 */
must_check int freeze_agent(struct arena *a, struct docker *d,
			    const char *state, const struct session *s,
			    const struct docker_container *c, struct err *err);
/* True when this session has stopped any that it has not let go. */
bool freeze_has_any(struct arena *a, const struct session *s);
/*
 * Were all of them stopped until now? -EBUSY: one of them went on, and may have
 * done anything.
 */
must_check int freeze_check(struct arena *a, struct docker *d,
			    const struct session *s, struct err *err);
/* Let go of all that this session, living or dead, has stopped. */
must_check int freeze_thaw(struct arena *a, struct docker *d, const char *state,
			   const struct session *s, struct err *err);
/*
 * The same for every dead session, as far as it goes. True when a living one
 * wants this container stopped.
 */
bool freeze_rescue(struct docker *d, const char *state, const char *container);

#endif
