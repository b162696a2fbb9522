/*
 * The poll loop of a session: from the started gate to the end of both.
 *
 * Does what the states of course.h ask for, and knows every bound on waiting;
 * what runs is for the caller to say. Everything that goes wrong ends in one
 * place: loop_stop(). What is done when is in timers.c and steps.c, what comes
 * from elsewhere in events.c, incoming.c and beside.c.
 */
#ifndef RUNTIME_LAUNCH_LOOP_LOOP_H
#define RUNTIME_LAUNCH_LOOP_LOOP_H

#include "runtime/launch/attach/stage.h"
#include "compiler/base/sys/clock.h"
#include "runtime/launch/control.h"
#include "runtime/launch/loop/course.h"
#include "runtime/launch/engine/engine.h"
#include "runtime/launch/gate.h"
#include "runtime/launch/losses.h"
#include "runtime/launch/session/session.h"
#include "runtime/launch/tell/tell.h"
#include "runtime/launch/tokens/renewals.h"
#include "runtime/launch/tracer/tracer.h"
#include "runtime/launch/view/view.h"
#include "runtime/launch/watchdog.h"

#define LOOP_READY_MS	 60000	/* a gate, from its start to "ready" */
#define LOOP_LATE_MS	 120000 /* then, for others that start there */
#define LOOP_GRACE_S	 5	/* a command, after a signal */
#define LOOP_END_MS	 20000 /* a docker command, after its container's end */
#define LOOP_VIEW_MS	 10000 /* an agent, after its view's end in order */
#define LOOP_PROGRESS_MS 500   /* then a person is told what takes so long */

/* When, in ms after launch_run() was called; 0: did not happen. */
struct loop_times {
	int64_t gate_spawned, alone, prepared, gate_started, ready;
	int64_t tracer_loaded, tracer_ready, view_ready;
	int64_t agent_spawned, agent_created, agent_started, agent_died;
	int64_t checked;
	int64_t agent_ended, gate_died, gate_ended, cleaned;
};

_Static_assert(STAGE_FDS + CONTROL_FDS + TELL_FDS + 11 <= ENGINE_FDS_MAX, "loop_fds");

struct loop {
	struct arena *a;
	struct engine *engine;
	const struct session *session;
	struct gate *gate;
	struct tracer *tracer;	   /* NULL: nothing traces */
	struct view *view;	   /* NULL: masks are mounts */
	struct renewals *renewals; /* NULL: no tokens are renewed */
	char *const *agent_argv;
	const struct watchdog *watchdog;
	const char *network; /* the gate is to be joined to it; or NULL */
	const char *uplink;  /* the gate's own; NULL: it has left that */
	struct control *control;
	struct questions *questions;
	struct tell *tell; /* who hears of refusals at once */
	struct losses losses;
	const char *agent_host; /* what a tracer knows it by; or NULL */
	struct stage *stage;	/* the command's streams; NULL: our own */
	int caller; /* while the agent is not known to run: its end is our end,
		       too; -1: nobody waits */
	/* called while the gate starts, once there is a view, where the agent
	 * may be held: 1 is "not now", else as on_ready; or NULL */
	int (*on_view)(void *ctx, struct err *err);
	/* called when gate, tracer and view are ready, until it is not 1 any
	 * more: then agent_argv is there */
	int (*on_ready)(void *ctx, struct err *err);
	/* called once, right after the agent's container was started */
	int (*on_started)(void *ctx, struct err *err);
	/* called now and then while the agent's container is paused: true when
	 * another session wants it to be */
	bool (*on_paused)(void *ctx, const char *container);
	/* Ends when the command has begun, or has a byte where that cannot be;
	 * -1: it has by the time that its container runs. */
	int begun_fd;
	/* called once, when the agent's command has begun; or NULL */
	int (*on_agent_runs)(void *ctx, struct err *err);
	/* called once, when the agent's container is gone and the gate's may
	 * still be going; or NULL */
	void (*on_agent_gone)(void *ctx);
	void *ctx;
	/* Nobody needs what the gate holds outside: once all records are in,
	 * its removal and the tracer's need not be waited for. */
	bool may_leave;
	bool progress; /* stderr is a terminal, and nobody asked for quiet */
	int64_t begun; /* clock_ms() */

	struct course course;
	pid_t agent; /* its docker command; 0: not started, or ended */
	int agent_status;
	const char *paused; /* the agent's container, while it is; or NULL */
	/* What Docker told of the containers: each once, and for good. They
	 * come late, in any order or not at all, and are no state of ours. */
	bool agent_made, agent_runs, agent_removed, gate_removed,
		tracer_removed, view_removed;
	bool is_refused; /* the agent's container runs, and no command */
	bool shares_terminal; /* the agent's command is in our group */
	struct {
		int number;	/* the first that came; 0: none */
		int64_t at;	/* clock_ms() of the last */
		bool is_shared; /* docker's command has it from the terminal */
	} signal;
	bool was_killed; /* the agent: docker could put nothing back */
	bool was_told;	 /* a progress line is on the terminal */
	bool left;	 /* Docker still removes gate, tracer or view */
	int failed;	 /* 0, or the code in why */
	struct err why;
	struct loop_times at;
};

/*
 * Wait for "ready", run the agent, see both end. The exit status, or a
 * negative errno. In both cases no process that was started is left; but when
 * r->left is set, the docker commands of gate, tracer and view: they wait for
 * Docker.
 */
must_check int loop_run(struct loop *r, struct err *err);
/* True when Docker has said of all containers that they are removed. */
bool loop_left_nothing(const struct loop *r);
/* End everything because of *why; the first reason counts. */
void loop_stop(struct loop *r, const struct err *why);
int64_t loop_elapsed(const struct loop *r);

#endif
