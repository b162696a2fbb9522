/*
 * One session, from a compiled plan to the command's exit status.
 *
 * Starts the gate, waits until it says that its rules are in the kernel, then
 * runs the command in the agent's container behind it; both by the vectors of
 * the plan's docker.json or native.json, exec'd verbatim. Which of the two is
 * the caller's to say, and once said no other takes its place. Stays the parent
 * until everything that it started is gone. What the plan says was the
 * compiler's to check; here is only checked what decides how a word of a vector
 * is replaced.
 *
 * Nothing is ever written to stdout and nothing read from stdin: both are the
 * command's, unless a keeper holds them for it. How its parts hang together:
 * doc/design.md, section 4; what it means: doc/semantics.md, sections 5 and 8.
 */
#ifndef RUNTIME_LAUNCH_LAUNCH_H
#define RUNTIME_LAUNCH_LAUNCH_H

#include "compiler/base/arena.h"
#include "compiler/base/err.h"
#include "compiler/plan/plan.h"
#include "runtime/launch/attach/keeper.h"
#include "runtime/launch/session/summary.h"
#include "runtime/launch/tell/tell.h"
#include "runtime/launch/workspace/gitlinked.h"

struct launch_opts {
	const char *state;	 /* absolute; made (0700) when missing */
	const char *workspace;	 /* absolute; a directory that exists */
	const struct plan *plan; /* what runs; written to the session */
	bool native;	      /* by its native.json; else by its docker.json */
	char *const *command; /* NULL at the end; empty: the image's */
	const char *session_id_file; /* gets the session's ID; or NULL */
	const char *trace_log;	     /* gets a copy of the decisions; or NULL */
	char *id; /* SESSION_ID_LEN + 1: gets its ID, once it has one; or NULL */
	bool no_update; /* an image that is not here is an error, no pull */
	bool no_ask;	/* no question waits for a person: denied at once */
	bool quiet;	/* no progress lines, no summary of refusals */
	summary_can_grant *can_grant;
	summary_purpose *purpose; /* with purpose_of; NULL: nothing is refused
				   * on purpose */
	const void *purpose_of;
	struct tell_wish tell; /* who else hears of a refusal when it happens */
	/* A repository that somebody approved; NULL: none is shown. Borrowed.
	 */
	const struct gitlinked *linked;
	struct keeper *keeper; /* in the background; NULL: where we are */
};

/*
 * Run one session.
 *
 * Reaps what dead sessions of the same state folder left, first. Signals
 * SIGINT, SIGTERM, SIGHUP and SIGQUIT are handled while it runs and put back
 * as they were. Must be called from a process with one thread.
 *
 * The command's exit status, 0 to 255: 126 and 127 as `docker run` has them,
 * 125 when Docker could not start the container (Docker has then said why on
 * stderr), 128 + n when signal n ended the session. Negative: membrane failed
 * (125 for the caller), *err says at what; nothing is left running.
 */
must_check int launch_run(const struct launch_opts *o, struct err *err);

/*
 * End sessions, living and dead, and remove what is left of them on Docker's
 * side and in their workspaces. Records stay in sessions/ID.
 *
 * which      a session's ID or the start of one, or the name or ID of one of
 *            its containers; NULL: every session of this state folder
 * out_ended  how many sessions had something left to end
 *
 *   -ENOENT  which names no session of this state folder
 */
must_check int launch_reset(const char *state, const char *which,
			    unsigned *out_ended, struct err *err);
/*
 * End one session as a SIGTERM to its launcher does: its command gets the
 * signal, then some seconds, and everything is removed in order. Waits for all
 * of it. A dead session is cleaned up.
 *
 * which    its ID, or how that begins
 * grace_s  seconds for the command, at most SESSION_GRACE_MAX; NULL: as usual
 * out_id   in the arena
 *
 *   -ENOENT     there is none, or more than one begins so
 *   -ESRCH      it has ended before
 *   -ETIMEDOUT  it does not end
 */
must_check int launch_stop(struct arena *a, const char *state, struct str which,
			   const uint32_t *grace_s, const char **out_id,
			   struct err *err);

#endif
