/*
 * The agent: when its docker command starts, and whether its container runs.
 */
#include "runtime/launch/loop/parts.h"
#include "runtime/launch/loop/progress.h"

#include "compiler/base/sys/clock.h"
#include "compiler/base/sys/proc.h"

#include <poll.h>
#include <string.h>

typedef int begin_part(struct engine *e, enum engine_part part,
		       const struct proc_opts *o, pid_t *out_pid,
		       struct err *err);

/* True when there is one. */
static bool make_agent(struct loop *r, begin_part *begin)
{
	struct proc_opts o = {.argv = r->agent_argv,
			      .group = r->shares_terminal ? PROC_SAME
							  : PROC_GROUP,
			      .in = -1,
			      .out = -1,
			      .err = -1,
			      .keep = r->watchdog->keep_fd};
	struct err err;
	int rc;

	progress_clear(r);
	if (r->stage) {
		o.group = PROC_SESSION;
		o.in = r->stage->child[0];
		o.out = r->stage->child[1];
		o.err = r->stage->child[2];
	} else if (r->tell) {
		tell_streams(r->tell, &o);
	}
	rc = begin(r->engine, ENGINE_AGENT, &o, &r->agent, &err);
	if (r->stage)
		stage_close_child(r->stage);
	else if (r->tell)
		tell_streams_done(r->tell, &o);
	if (rc < 0) {
		r->agent = 0;
		loop_stop(r, &err);
		return false;
	}
	r->agent_made = true;
	watchdog_tell(r->watchdog, r->agent);
	return true;
}

static void note_begun(struct loop *r)
{
	steps_take(r, COURSE_AGENT_SPAWNED);
	timers_set(r, COURSE_LOOK);
	r->at.agent_spawned = loop_elapsed(r);
}

void agent_hold(struct loop *r)
{
	const struct engine_ops *ops = r->engine->ops;
	struct err err;
	int rc;

	if (!r->on_view || r->agent_made || (r->view && !r->view->ready) ||
	    !ops->may_hold || !ops->may_hold(r->engine))
		return;
	rc = r->on_view(r->ctx, &err);
	if (rc < 0)
		loop_stop(r, &err);
	if (rc == 0)
		make_agent(r, ops->hold);
}

static void begin_agent(struct loop *r)
{
	const struct engine_ops *ops = r->engine->ops;
	struct err err;

	if (!r->agent_made) {
		if (make_agent(r, ops->start))
			note_begun(r);
		return;
	}
	progress_clear(r);
	if (ops->release(r->engine, ENGINE_AGENT, &err) < 0)
		loop_stop(r, &err);
	else
		note_begun(r);
}

/* One that is held, and has said why: nothing is waited for any more. */
static bool has_failed(struct loop *r)
{
	if (!r->agent_made || r->agent)
		return false;
	note_begun(r);
	steps_take(r, COURSE_AGENT_ENDED);
	return true;
}

bool agent_get_ready(struct loop *r)
{
	struct err err;
	int rc;

	if (!parts_starting(r) || has_failed(r) || !beside_is_ready(r))
		return false;
	rc = r->on_ready(r->ctx, &err);
	if (rc < 0)
		loop_stop(r, &err);
	if (rc == 0)
		begin_agent(r);
	if (rc == 1)
		steps_take(r, COURSE_OTHERS_FIRST);
	return rc == 1;
}

void agent_note_runs(struct loop *r)
{
	if (r->agent_runs)
		return;
	r->agent_runs = true;
	if (r->tracer)
		tracer_agent_runs(r->tracer, clock_ms());
}

/* What cannot begin ends at once, and has said why. */
static bool has_begun(struct loop *r)
{
	struct pollfd p = {.fd = r->begun_fd, .events = POLLIN};

	if (p.fd >= 0 && poll(&p, 1, 0) <= 0)
		return false;
	r->is_refused = p.revents & POLLIN;
	fd_close(&r->begun_fd);
	r->begun_fd = -1;
	return !r->is_refused;
}

void agent_check_start(struct loop *r)
{
	int (*on_started)(void *ctx, struct err *err) = r->on_started;
	int (*on_agent_runs)(void *ctx, struct err *err) = r->on_agent_runs;
	struct err err;

	if (!r->agent_runs)
		return;
	r->on_started = NULL;
	if (on_started && on_started(r->ctx, &err) < 0) {
		r->on_agent_runs = NULL;
		loop_stop(r, &err);
	} else if (!r->is_refused && has_begun(r) && on_agent_runs) {
		r->on_agent_runs = NULL;
		if (on_agent_runs(r->ctx, &err) < 0)
			loop_stop(r, &err);
	}
}

/* Somebody waits to hear of the agent's container. */
static bool is_awaited(const struct loop *r)
{
	return (!r->agent_runs && r->agent != 0) ||
	       (r->agent_made && r->tracer && tracer_wants_agent(r->tracer));
}

static void note_part(void *ctx, const struct engine_event *e)
{
	struct loop *r = ctx;

	if (strcmp(e->role, "agent") != 0)
		return;
	if (r->tracer)
		tracer_agent(r->tracer, e->id);
	if (strcmp(e->action, "start") == 0)
		agent_note_runs(r);
}

bool agent_look(struct loop *r)
{
	struct err ignored;

	if (is_awaited(r) &&
	    r->engine->ops->ask(r->engine, note_part, r, &ignored) < 0)
		return true;
	return is_awaited(r);
}
