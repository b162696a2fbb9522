/*
 * Pods that are tried and go again: each is watched, with the log of one of its
 * containers, until what was asked of it is seen; and all of them are removed,
 * whatever becomes of who asked.
 *
 * What is applied, and what a line of a log means, is the caller's.
 */
#ifndef RUNTIME_LAUNCH_KUBERNETES_TRIAL_H
#define RUNTIME_LAUNCH_KUBERNETES_TRIAL_H

#include "compiler/base/addr.h"
#include "runtime/launch/kubernetes/seen.h"
#include "runtime/launch/kubernetes/stream.h"

/* --- what removes them ------------------------------------------------------ */

/* A process that waits for our end, by whatever, and then deletes. */
struct trial_broom {
	pid_t pid;
	int alive; /* it begins when this is closed */
	int said;  /* and says here what it could not */
};

/*
 * names  "pod/x" and the like, NULL at the end; what is not there is no error
 *
 * Before the first of them is made.
 */
must_check int trial_broom_start(struct arena *a, const struct kubectl *k,
				 const char *const *names,
				 struct trial_broom *out, struct err *err);
/* What is started while it is held has to end first: a kubectl that makes
 * something, and may outlive us. */
void trial_broom_hold(const struct trial_broom *b, bool held);
/* Delete them now: nothing waits until they have gone. -EREMOTEIO: it could not,
 * in kubectl's words. */
must_check int trial_broom_finish(struct trial_broom *b, struct err *err);

/* --- one Pod ---------------------------------------------------------------- */

struct trial {
	struct arena *a;
	const struct kubectl *at;
	const char *pod;
	enum seen_part part; /* whose log it is */
	struct stream watch, log;
	struct buf object;
	struct seen seen;
	struct addr ip; /* the Pod's; family 0: not yet */
	unsigned log_tries;
	/* Each line of that log. */
	void (*on_line)(void *ctx, struct str line);
	void *ctx;
};

enum trial_end {
	TRIAL_DONE,
	TRIAL_HOPELESS, /* it will not be, for what out says */
	TRIAL_LATE,	/* it is not, in time; out says what it waits for */
};

/* Of a Pod that was applied. */
must_check int trial_begin(struct trial *t, struct err *err);
/*
 * Until is_done() says so, after each thing that was told.
 *
 * until_ms  clock_ms()
 *
 *   -EINTR  SIGINT or the like: the caller has caught them, proc.h
 */
must_check int trial_wait(struct trial *t, int64_t until_ms,
			  bool (*is_done)(const struct trial *t),
			  enum trial_end *out_end, char out[SEEN_TEXT_MAX],
			  struct err *err);
void trial_done(struct trial *t);
/* Whether a signal has come that ends us. */
bool trial_interrupted(void);

#endif
