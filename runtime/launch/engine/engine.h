/*
 * What runs the parts of a session: Docker's daemon, or membrane's own engine.
 *
 * A part is a process of the launcher's (a docker command, or one that stays
 * beside the part) with the part's streams, which ends as the part did. It is
 * started by the vector that the plan has for it. Beside that an engine tells
 * what became of the parts, and does what no pipe can: signals, and an end by
 * force. Everything is done without waiting but for what says so.
 *
 * Implemented in runtime/launch/docker/engine.c and runtime/launch/native/.
 */
#ifndef RUNTIME_LAUNCH_ENGINE_ENGINE_H
#define RUNTIME_LAUNCH_ENGINE_ENGINE_H

#include "compiler/base/err.h"
#include "compiler/base/sys/proc.h"

#include <poll.h>

#define ENGINE_FDS_MAX 48u /* of the caller's, in one poll */

enum engine_part {
	ENGINE_GATE,
	ENGINE_AGENT,
	ENGINE_TRACER,
	ENGINE_VIEW,
	ENGINE_PARTS,
};

/*
 * What happened to a part: "create", "start", "die", "destroy", "pause",
 * "unpause". They only make things known earlier: none may be depended on but
 * "start" of the agent, which ask() says as well.
 */
struct engine_event {
	const char *action;
	const char *role; /* "gate", "agent", "tracer", "view" */
	const char *id;	  /* by which a tracer knows it; "" if unsaid */
};
typedef void engine_on_event(void *ctx, const struct engine_event *e);

struct engine;

struct engine_ops {
	/*
	 * Start a part; o->argv is its expanded vector, NULL at its end.
	 *   -ENOENT  the program that runs it is not there
	 */
	int (*start)(struct engine *e, enum engine_part part,
		     const struct proc_opts *o, pid_t *out_pid,
		     struct err *err);
	/*
	 * Whether the agent may be held by now: it is started as far as can be
	 * without the gate's being ready, and its program begins with release().
	 * NULL: never.
	 */
	bool (*may_hold)(struct engine *e);
	/* As start, but for the program. Only where may_hold said so. */
	int (*hold)(struct engine *e, enum engine_part part,
		    const struct proc_opts *o, pid_t *out_pid, struct err *err);
	/*
	 * The program of a part that is held begins.
	 *   -EXDEV  the part is not where it should be
	 */
	int (*release)(struct engine *e, enum engine_part part, struct err *err);
	/*
	 * A signal to the part's first process, by name ("SIGTERM").
	 *   -ENOENT  it does not run (yet)
	 */
	int (*signal)(struct engine *e, enum engine_part part,
		      const char *signame, struct err *err);
	/* End it by force, and have nothing of it left; its process ends then.
	 */
	int (*remove)(struct engine *e, enum engine_part part, struct err *err);
	/* Tell from now on; where that breaks nothing is told. */
	int (*follow)(struct engine *e, engine_on_event *on_event, void *ctx,
		      struct err *err);
	/* Have on_event called with "start", as far as it is so now, for parts
	 * that run. */
	int (*ask)(struct engine *e, engine_on_event *on_event, void *ctx,
		   struct err *err);
	/*
	 * Wait until one of fds (at most ENGINE_FDS_MAX; one below 0 is left
	 * out) is ready or closed, or something was told, or timeout_ms went
	 * by. The caller reads its descriptors without blocking afterwards,
	 * whatever woke it.
	 */
	int (*poll)(struct engine *e, const struct pollfd *fds, size_t n,
		    int timeout_ms, struct err *err);
	/* The process of a part has ended, and was waited for: true, when with
	 * it all of the part is gone. */
	bool (*ended)(struct engine *e, enum engine_part part);
	/* The gate needs its uplink no more; NULL: that goes with it. */
	void (*leave)(struct engine *e, const char *uplink);
	/*
	 * The gate gets its place in a network of the session's; NULL: there is
	 * never one.
	 *   -ENOENT  there is no gate yet
	 */
	int (*join)(struct engine *e, const char *network, struct err *err);
};

struct engine {
	const struct engine_ops *ops;
};

/*
 * Start a part in a session of its own with pipes for its streams, as
 * proc_pipes() makes them. keep as in proc_opts.
 */
must_check int engine_start_piped(struct engine *e, enum engine_part part,
				  char *const *vector, int keep, pid_t *out_pid,
				  int *out_in, int *out_out, int *out_err,
				  struct err *err);

#endif
