/*
 * From one state of the course to the next: how long each may take, and what is
 * done where one begins.
 */
#include "runtime/launch/loop/parts.h"

#include "compiler/base/sys/clock.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

/* Below 0: as long as it takes. */
static int64_t limit_of(const struct loop *r, enum course_state state)
{
	switch (state) {
	case COURSE_STARTING:
		return LOOP_READY_MS;
	case COURSE_QUEUED:
		return LOOP_LATE_MS;
	case COURSE_AGENT:
		return -1;
	case COURSE_ASKED: /* 0: at once */
		return 1000 * (int64_t)session_grace(r->session, LOOP_GRACE_S);
	case COURSE_ENDING:
	case COURSE_REMOVING:
	case COURSE_FORCING:
		return LOOP_END_MS;
	}
	abort();
}

static void set_limit(struct loop *r)
{
	int64_t limit = limit_of(r, r->course.state);

	course_set(&r->course, COURSE_LIMIT,
		   limit < 0 ? 0 : clock_ms() + limit);
}

/* Whose start all others wait for. */
static const char *awaited_part(const struct loop *r)
{
	if (!r->gate->ready)
		return "gate";
	return r->view && !r->view->ready ? "view of the workspace" : "tracer";
}

static void say_late(struct loop *r, enum course_state state)
{
	struct err err;

	if (state == COURSE_QUEUED)
		err_set(&err, -ETIMEDOUT,
			"other sessions that start in the same folders took more than %d s",
			LOOP_LATE_MS / 1000);
	else
		err_set(&err, -ETIMEDOUT, "the %s was not ready within %d s",
			awaited_part(r), LOOP_READY_MS / 1000);
	status_note(r, &err);
}

bool steps_kill_agent(struct loop *r)
{
	struct err err;

	if (r->agent == 0)
		return false;
	if (r->engine->ops->remove(r->engine, ENGINE_AGENT, &err) < 0)
		kill(r->agent, SIGKILL); /* the reaper finds the container */
	timers_clear(r, COURSE_RESEND);
	r->was_killed = true;
	return true;
}

static void end_rest(struct loop *r)
{
	timers_set(r, COURSE_PROGRESS);
	/* what the agent was told last is on record, too */
	if (r->tracer)
		beside_take_gate(r);
	gate_close_stdin(r->gate);
	if (r->view)
		view_close_stdin(r->view);
	beside_end_tracer(r);
}

static void remove_rest(struct loop *r)
{
	struct err err;

	if (r->engine->ops->remove(r->engine, ENGINE_GATE, &err) < 0)
		status_note(r, &err);
	if (r->tracer &&
	    r->engine->ops->remove(r->engine, ENGINE_TRACER, &err) < 0)
		status_note(r, &err);
	if (r->view && r->engine->ops->remove(r->engine, ENGINE_VIEW, &err) < 0)
		status_note(r, &err);
}

static void kill_commands(struct loop *r)
{
	struct err err;

	err_set(&err, -ETIMEDOUT, "docker does not end");
	status_note(r, &err);
	if (r->agent)
		kill(r->agent, SIGKILL);
	if (r->gate->pid)
		kill(r->gate->pid, SIGKILL);
	if (r->tracer && r->tracer->pid)
		kill(r->tracer->pid, SIGKILL);
	if (r->view && r->view->pid)
		kill(r->view->pid, SIGKILL);
}

void steps_take(struct loop *r, enum course_event event)
{
	enum course_state from = r->course.state;
	struct course_step step = course_after(from, event);

	r->course.state = step.to;
	if (step.acts & COURSE_SAY_LATE)
		say_late(r, from);
	if (step.acts & COURSE_PASS_ON && !r->signal.is_shared &&
	    incoming_pass_on(r))
		timers_set(r, COURSE_RESEND);
	if (step.acts & COURSE_KILL_AGENT && steps_kill_agent(r))
		timers_set(r, COURSE_REKILL);
	if (step.acts & COURSE_END_REST)
		end_rest(r);
	if (step.acts & COURSE_REMOVE_REST)
		remove_rest(r);
	if (step.acts & COURSE_KILL_ALL)
		kill_commands(r);
	if (step.has_new_time)
		set_limit(r);
}

bool steps_reach_limit(struct loop *r)
{
	steps_take(r, COURSE_DEADLINE);
	return false;
}
