/*
 * What a session is about: session.json in its folder, written at its start.
 */
#ifndef RUNTIME_LAUNCH_ABOUT_H
#define RUNTIME_LAUNCH_ABOUT_H

#include "runtime/launch/session.h"

#include <stdint.h>

#define ABOUT_LEAST 4u /* digits that stand for a whole ID */

struct about {
	struct session session; /* its lock is not ours */
	bool known;	     /* there is a session.json: what follows holds */
	int64_t started_s;   /* since 1970; else when the folder was changed */
	const char *started; /* the same in UTC: "2026-01-31T12:00:00Z" */
	const char *workspace;	   /* absolute */
	VEC(const char *) command; /* empty: the image's own */
};

must_check int about_write(struct arena *a, const struct session *s,
			   const char *workspace, char *const *command,
			   struct err *err);
/* A session.json that is missing, or is none, is no error: see known. */
void about_read(struct arena *a, const struct session *s, struct about *out);
/*
 * The session whose ID begins with which, or the newest one when that is empty.
 *   -ENOENT  there is none, or more than one begins so
 */
must_check int about_find(struct arena *a, const char *state, struct str which,
			  struct about *out, struct err *err);
/* Whether somebody holds its lock; a dead session's is taken for a moment. */
must_check int about_state(const struct about *x, enum session_found *out,
			   struct err *err);

#endif
