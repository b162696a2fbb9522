/*
 * What the files of this folder, and not those in it, share.
 */
#ifndef RUNTIME_LAUNCH_PARTS_H
#define RUNTIME_LAUNCH_PARTS_H

#include "compiler/base/arena.h"
#include "compiler/base/err.h"
#include "compiler/base/str.h"
#include "runtime/launch/session/session.h"

#include <cjson/cJSON.h>
#include <sys/types.h>

/* A sentence in place of a line that a docker command printed, or that line. */
struct str advice_for(struct str line);

/* --- who.c ---------------------------------------------------------------- */

/*
 * Who did something to a session, and when, as its records say it: the launcher
 * knows both, and asks nobody who could say otherwise. Adds "who": {"uid",
 * "name"}, the session's user, and "time": now, in UTC with microseconds.
 */
void who_add(struct arena *a, cJSON *o);

/* --- probe.c -------------------------------------------------------------- */

/* The folder that sessions are kept in, borrowed; what of it was there. */
struct probe_place {
	const char *state, *sessions;
	bool had_state, had_sessions;
};

/* A session for a trial, with signals caught. probe_end() undoes both: rc, or
 * what went wrong with that. */
must_check int probe_begin(struct arena *a, const char *state,
			   struct session *out, struct probe_place *place,
			   struct err *err);
must_check int probe_end(struct session *s, const struct probe_place *place,
			 int rc, struct err *err);
/* Whether somebody wants it to end, since this was asked last. */
bool probe_interrupted(void);
/* What did not end in time does, and is waited for; 0: nobody. */
void probe_kill(pid_t pid);

#endif
