/*
 * Removing what a session has outside its folder: containers, networks and
 * the placeholders in the workspace; and in it, what is half written, and what
 * a view left mounted.
 *
 * Everything is found by the session's own label and journal, and only for IDs
 * that are folders of this state folder: other users' and other state
 * folders' sessions are never touched.
 */
#ifndef RUNTIME_LAUNCH_REAP_H
#define RUNTIME_LAUNCH_REAP_H

#include "runtime/launch/docker/docker.h"
#include "runtime/launch/session/session.h"

/*
 * Remove all of it; the agent's container before the gate's. The caller has
 * the session's lock, or knows that its launcher ends.
 *   -EBUSY  Docker is still removing a container: to be called again
 */
must_check int reap_session(struct docker *d, const char *state,
			    const struct session *s, struct err *err);
/* Docker has nothing of it: it was another engine's. */
bool reap_is_alone(const struct session *s);
/* The same of such a one: its parts have died with its launcher, or are in a
 * cluster, where kubectl removes them. */
must_check int reap_alone(const char *state, const struct session *s,
			  struct err *err);
/*
 * Clean up every dead session. Docker is only asked when there is one. *docker
 * may be NULL; what is opened for it is left there for the caller.
 */
must_check int reap_dead(struct arena *a, const char *state,
			 const struct endpoint *at, struct docker **docker,
			 unsigned *out_ended, struct err *err);
/* The same, best effort: a dead session that cannot be cleaned up harms nobody.
 * And what is too old goes. */
void reap_others(struct arena *a, const char *state, const struct endpoint *at,
		 bool quiet);
/*
 * Is there a session whose launcher is gone, and with it not all of the rest?
 * Its watchdog, or another launcher, removes that.
 */
bool reap_is_under_way(struct arena *a, const char *state);

#endif
