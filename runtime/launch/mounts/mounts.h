/*
 * The mounts of the agent's container, from the look at the workspace until
 * they are known to be what was looked at.
 *
 * In order: whoever could change a name on the way is stopped (overlap.h), the
 * workspace is scanned (masks.h), what will be mounted is held open (place.h),
 * (With a view, which judges names when they are used, nothing is scanned
 * here.) Docker makes the container, its mounts are compared with what is held
 * (expected.h), and the others go on. Docker has no moment between mounting and
 * the command's first instruction: the comparison comes some milliseconds
 * behind that, and is there for what the stopping cannot hold (programs of the
 * host). Whoever makes mounts in another way needs the same five steps.
 */
#ifndef RUNTIME_LAUNCH_MOUNTS_MOUNTS_H
#define RUNTIME_LAUNCH_MOUNTS_MOUNTS_H

#include "runtime/launch/docker/vectors.h"
#include "compiler/base/sys/clock.h"
#include "runtime/launch/mounts/masks.h"
#include "runtime/launch/mounts/expected.h"
#include "runtime/launch/mounts/overlap.h"

struct mounts {
	struct arena *a;
	const char *state, *workspace; /* the latter without a link on it */
	const struct session *session;
	int root; /* the workspace, open; -1 */
	int moves; /* of moves.h: since the look at it; -1 */
	/* The root of the view that is mounted in its place, O_PATH; -1: there
	 * is none, and masks are mounts. */
	int view;
	const struct gitlinked *linked; /* that the view shows, too; NULL */
	const char *own; /* where the view is once more, inside; or NULL */
	/* The same of the home, and where that is, on the host and inside: with
	 * `protect` alone. */
	int home_view;
	const char *home, *home_at;
	bool quiet;
	struct overlap overlap;
	bind_list binds;   /* of the agent's vector, without masks */
	struct str target; /* where the workspace is, inside */
	struct masks masks;
	expected_list meant;
	int64_t alone_at; /* clock_ms(), when nobody was in the way; 0 */
};

/* Nothing is open. All borrowed; the workspace comes with mounts_open(). */
void mounts_init(struct mounts *m, struct arena *a, const char *state,
		 const struct session *s, bool quiet);
/* Hold the workspace; an absolute path, every link followed before. */
must_check int mounts_open(struct mounts *m, const char *workspace,
			   struct err *err);
/*
 * Look, and write the agent's words.
 *
 * v, values  values->masks are filled in here
 * m->view    set before, where there is one
 * plan       the text of mounts.plan
 * may_stop   false: only if no other session's agent has to be stopped
 *
 * 0, or 1: not now, see overlap_begin(). -ESTALE: the workspace was replaced.
 */
must_check int mounts_prepare(struct mounts *m, struct docker *d,
			      const struct vector *v,
			      struct vectors_values *values, struct str plan,
			      bool may_stop, char ***out_argv, struct err *err);
/*
 * Of the native engine's: say what its agent can write, overlap_note(); and,
 * without a view, look, for values->masks. Nobody is stopped: m->moves hears
 * what is moved from here on, and the mounts are made by what was seen.
 *   -EAGAIN  names change all the time: nothing is sure of what was seen
 */
must_check int mounts_note(struct mounts *m, const struct vector *v,
			   struct vectors_values *values, struct str plan,
			   struct err *err);
/* They are: nobody has to hear any more what is moved. */
void mounts_made(struct mounts *m);
/* What a look at the workspace found, for people; unless nobody wants it. */
void mounts_say(const struct mounts *m, const looked_notes *notes,
		bool readonly);
/*
 * The container has started: compare, and let the others go on. It is no error
 * when it has ended already, or (said on stderr) when this host does not see
 * its processes: Docker in a virtual machine, a runtime with a kernel of its
 * own.
 *   -EXDEV  something else was mounted: the session has to end
 *   -EBUSY  an agent that was stopped went on before its time: likewise
 */
must_check int mounts_check(struct mounts *m, struct docker *d,
			    const char *container, const char *runtime,
			    struct err *err);
/* When nothing of the session can start any more; d may be NULL. */
must_check int mounts_end(struct mounts *m, struct docker *d, struct err *err);

#endif
