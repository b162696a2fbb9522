/*
 * `start`: a launcher that goes on in the background as its session's keeper.
 *
 * The process that was called forks. The child, in a session of its own and
 * without a terminal, does all that `run` does, with the caller's stderr until
 * the command has begun, and with keeper.log in the session's folder
 * from then on. The parent waits until that is so, passes signals on, and ends
 * with what has become of it; should it die first, the child ends everything.
 */
#ifndef RUNTIME_LAUNCH_ATTACH_KEEPER_H
#define RUNTIME_LAUNCH_ATTACH_KEEPER_H

#include "runtime/launch/attach/stage.h"
#include "runtime/launch/session/session.h"

#define KEEPER_LOG "keeper.log"

struct keeper {
	struct stage_opts stage;
	int caller; /* a socket to who waits; -1: told, or gone */
	bool told;  /* that the command runs */
};

/*
 * Fork, and in the child run(ctx, k), whose result is its exit status.
 *
 * k        stage is filled in by the caller, but for a size
 * out_id   SESSION_ID_LEN + 1 bytes: the session that runs now; or ""
 * out_rc   without an ID the child's exit status: it has said why
 *
 * Must be called from a process with one thread.
 */
must_check int keeper_start(struct keeper *k,
			    int (*run)(void *ctx, struct keeper *k), void *ctx,
			    char *out_id, int *out_rc, struct err *err);
/* In the child, once: the command runs. Then stderr is the session's. */
must_check int keeper_tell(struct keeper *k, const struct session *s,
			   struct err *err);

#endif
