/*
 * Session folders: state/sessions/ID and its lock.
 *
 * A session lives as long as somebody holds an flock on its `lock`; the file
 * is removed when everything else of the session is. A folder with a lock that
 * can be taken is therefore a dead session with something left behind, one
 * without is a finished record.
 */
#ifndef RUNTIME_LAUNCH_SESSION_SESSION_H
#define RUNTIME_LAUNCH_SESSION_SESSION_H

#include "compiler/base/arena.h"
#include "compiler/base/err.h"

#define SESSION_ID_LEN	  12u
#define SESSION_KEEP	  200u	       /* finished sessions kept for reading */
#define SESSION_KEEP_S	  (30 * 86400) /* so long after their end */
#define SESSION_MAX	  100000u      /* folders looked at */
#define SESSION_SOCKET	  "attach"     /* in its folder: see stage.h */
#define SESSION_CONTROL	  "control"    /* the same: see control.h */
#define SESSION_ASKING	  "asking"     /* a lock: see listeners.h */
#define SESSION_GRACE_MAX 86400u       /* seconds */

struct session {
	char id[SESSION_ID_LEN + 1]; /* lower-case hex digits */
	const char *dir;	     /* state/sessions/ID */
	int lock_fd;		     /* -1: not ours */
};

typedef VEC(struct session) sessions;

/* Make the folder (0700) and take its lock. */
must_check int session_new(struct arena *a, const char *state,
			   struct session *out, struct err *err);
/* Every session folder but other users', finished or not; none of the locks is
 * taken. */
must_check int session_list(struct arena *a, const char *state, sessions *out,
			    struct err *err);

enum session_found {
	SESSION_FINISHED, /* no lock: only the record is there */
	SESSION_ALIVE,	  /* somebody else has the lock */
	SESSION_DEAD,	  /* the lock is ours now, in s->lock_fd */
};
/* A negative errno, or an enum session_found. */
must_check int session_take(struct session *s, struct err *err);
/*
 * PID of the launcher of a living session, or of the watchdog that it has left
 * the rest to; 0 when it cannot be told.
 */
pid_t session_pid(const struct session *s);
/*
 * The lock, s->lock_fd, was another process's. Says whose it is now, as far as
 * it can: held it is in any case.
 */
void session_inherit(const struct session *s);
/*
 * How many seconds its command has to end in, once it is asked to: what
 * session_set_grace() was last told, or otherwise.
 */
must_check int session_set_grace(const struct session *s, uint32_t seconds,
				 struct err *err);
uint32_t session_grace(const struct session *s, uint32_t otherwise);
/* Nobody can come in any more; session_release() of a finished one does it. */
void session_shut(const struct session *s);
/* Let go of the lock; finished: and remove it, nothing is left to clean. */
void session_release(struct session *s, bool finished);
/*
 * Remove finished sessions: the oldest beyond SESSION_KEEP, and those that are
 * over for SESSION_KEEP_S. Best effort; one at a time.
 */
void session_prune(struct arena *a, const char *state);
bool session_is_id(struct str name);
/* Its parts are processes that died with its launcher: nothing of it is
 * Docker's. From the first until its folder goes. */
must_check int session_set_native(const struct session *s, struct err *err);
bool session_is_native(const struct session *s);
/* Its parts are in a Pod, of which this file says where: objects.h. */
#define SESSION_POD "pod.json"
bool session_is_pod(const struct session *s);

#endif
