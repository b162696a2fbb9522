/*
 * Which folder of the host is the agent's home: {state}/home of all sessions,
 * {state}/homes/DIGEST of all that have the same workspace, or `home` of the
 * session's folder, which goes with the session.
 */
#ifndef RUNTIME_LAUNCH_HOME_H
#define RUNTIME_LAUNCH_HOME_H

#include "runtime/launch/docker/vectors.h"
#include "runtime/launch/session/session.h"

/* workspace: absolute, every link followed; its path alone counts. */
const char *home_path(struct arena *a, enum vectors_home kind,
		      const char *state, const struct session *s,
		      const char *workspace);
/* That of the session's folder, if there is one, when nothing of the session
 * can write there any more. What stays is said on stderr. */
void home_remove(struct arena *a, const struct session *s);

#endif
