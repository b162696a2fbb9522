/*
 * What a session is about: session.json in its folder, written at its start.
 */
#ifndef RUNTIME_LAUNCH_SESSION_METADATA_H
#define RUNTIME_LAUNCH_SESSION_METADATA_H

#include "runtime/launch/session/session.h"

#include <stdint.h>

#define METADATA_LEAST 4u /* digits that stand for a whole ID */

/* Where the command's streams are. */
struct metadata_streams {
	bool kept;  /* with a keeper: they can be joined */
	bool tty;   /* one terminal for all of them */
	bool input; /* stdin is open */
};

/* What the policy left to the session's beginning, and was found then. */
struct metadata_found {
	const char *engine;   /* what runs it: "docker", "native" or "kubernetes" */
	const char *resolver; /* of the host, which the gate asks; NULL: the
				 policy names one */
	const char *roots;    /* the file with those beside the system's; NULL:
				 the policy names none */
	uint32_t n_roots;
	const char *digest; /* of them: roots.h */
};

struct metadata {
	struct session session; /* its lock is not ours */
	bool known;	     /* there is a session.json: what follows holds */
	int64_t started_s;   /* since 1970; else when the folder was changed */
	const char *started; /* the same in UTC: "2026-01-31T12:00:00Z" */
	const char *workspace;	   /* absolute */
	const char *engine;	   /* what runs it: "docker", "native" or "kubernetes" */
	VEC(const char *) mounted; /* where it is inside, one path at least */
	VEC(const char *) command; /* empty: the image's own */
	struct metadata_streams streams;
};

/*
 * What became of it: summary.json, written when its command's container was
 * gone and all records were in.
 */
struct metadata_end {
	bool known;	   /* false: its launcher was killed, or still runs */
	int status;	   /* of run */
	const char *error; /* why membrane itself failed; or NULL */
	const char *at;	   /* as started; "" when it is not said */
};

/*
 * also  where the workspace is inside besides /workspace; or NULL
 */
must_check int metadata_write(struct arena *a, const struct session *s,
			      const char *workspace, char *const *command,
			      const char *also,
			      const struct metadata_found *found,
			      const struct metadata_streams *streams,
			      struct err *err);
/* A session.json that is missing, or is none, is no error: see known. */
void metadata_read(struct arena *a, const struct session *s,
		   struct metadata *out);
void metadata_end_read(struct arena *a, const struct session *s,
		       struct metadata_end *out);
/* The engine of that name, in a sentence. */
const char *metadata_engine(const char *name);
/* Now, as in started. */
const char *metadata_now(struct arena *a);
/*
 * The session whose ID begins with which, or the newest one when that is empty.
 *   -ENOENT  there is none, or more than one begins so
 */
must_check int metadata_find(struct arena *a, const char *state,
			     struct str which, struct metadata *out,
			     struct err *err);
/*
 * The one session with a keeper that lives.
 *   -ENOENT  there is none, or there are several
 */
must_check int metadata_find_kept(struct arena *a, const char *state,
				  struct metadata *out, struct err *err);
/*
 * Its lock is held, but only until Docker has removed what is left of it: the
 * record of its end is written.
 */
bool metadata_is_at_end(const struct session *s);
/*
 * Whether somebody holds its lock, and not only for that; a dead session's is
 * taken for a moment.
 */
must_check int metadata_state(const struct metadata *x, enum session_found *out,
			      struct err *err);

#endif
