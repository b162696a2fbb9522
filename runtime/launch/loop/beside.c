/*
 * What runs beside the agent: the gate, its tracer and its view. What they say,
 * and what their ends mean for the session.
 */
#include "runtime/launch/loop/parts.h"

#include "compiler/base/sys/clock.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

/* --- the gate ------------------------------------------------------------ */

void beside_take_gate(struct loop *r)
{
	bool running = !parts_ending(r);
	struct err err;

	if (gate_pump(r->gate, &err) < 0) {
		loop_stop(r, &err);
		/* what it says from here on is not listened to */
		fd_close(&r->gate->out);
		r->gate->out = -1;
		return;
	}
	if (running && (r->gate->out < 0 || r->gate->pid == 0)) {
		/* whatever it said last is read until its end, and put in */
		err_set(&err, -EPIPE, PARTS_GATE_ENDED);
		loop_stop(r, &err);
	} else if (r->gate->ready && !r->at.ready) {
		r->at.ready = loop_elapsed(r);
	}
}

bool beside_join_network(struct loop *r)
{
	struct err err;
	int rc;

	if (!parts_starting(r))
		return false;
	rc = r->engine->ops->join(r->engine, r->network, &err);
	if (rc < 0 && rc != -ENOENT)
		loop_stop(r, &err);
	return rc == -ENOENT;
}

/*
 * Nothing needs the uplink any more. Docker takes as long to take it down as
 * the gate takes to end and the agent's container to be removed: all at once.
 */
void beside_leave_uplink(struct loop *r)
{
	if (r->at.agent_died == 0 || !r->uplink || r->may_leave)
		return;
	r->engine->ops->leave(r->engine, r->uplink);
	r->uplink = NULL;
}

/* --- the tracer ---------------------------------------------------------- */

void beside_say_tracer(const struct loop *r, struct err *err)
{
	const struct tracer *t = r->tracer;

	if (t->required)
		err_set(err, -EIO,
			"the trace is required, and the tracer failed: %s",
			t->why.text);
	else
		err_set(err, -EIO,
			"the tracer failed, which the kernel asks before what the agent does: %s ('--no-trace' wants no trace)",
			t->why.text);
}

/* A session that must not go on blind ends, and one whose processes went with
 * the tracer; any other goes on, and says so. */
void beside_take_tracer(struct loop *r)
{
	struct tracer *t = r->tracer;
	struct err err;

	if (!t)
		return;
	tracer_pump(t);
	if (t->state == TRACER_LOADED && r->gate->ready)
		tracer_tell(t, r->gate->netns, r->gate->pidns, r->agent_host);
	if (t->state == TRACER_LOADED && !r->at.tracer_loaded)
		r->at.tracer_loaded = loop_elapsed(r);
	if (t->state == TRACER_READY && !r->at.tracer_ready)
		r->at.tracer_ready = loop_elapsed(r);
	if (t->state == TRACER_FAILED && !parts_ending(r) &&
	    (t->required || (t->holds_agent && t->pid == 0))) {
		beside_say_tracer(r, &err);
		loop_stop(r, &err);
	}
}

/* A view may be in its namespace, and would end with it before its time. */
void beside_end_tracer(struct loop *r)
{
	bool waits = r->tracer && r->tracer->holds_agent && r->view &&
		     r->view->pid;

	if (r->tracer && !waits)
		tracer_end(r->tracer, clock_ms());
}

void beside_tend_tracer(struct loop *r)
{
	struct err err;

	if (!r->tracer)
		return;
	switch (tracer_tick(r->tracer, clock_ms())) {
	case TRACER_GO_ON:
		return;
	case TRACER_TERM:
		/* what does not hear it is removed when its time is over */
		if (r->engine->ops->signal(r->engine, ENGINE_TRACER, "SIGTERM",
					   &err) < 0)
			return;
		return;
	case TRACER_KILL:
		if (r->engine->ops->remove(r->engine, ENGINE_TRACER, &err) <
			    0 &&
		    r->tracer->pid)
			kill(r->tracer->pid, SIGKILL);
		return;
	}
}

/* --- the view ------------------------------------------------------------ */

bool beside_lose_view(struct loop *r)
{
	struct err err;

	if (parts_ending(r))
		return false;
	err_set(&err, -ENOTCONN, PARTS_VIEW_ENDED);
	loop_stop(r, &err);
	return false;
}

/*
 * Once it is the agent's alone, its end in order comes of the agent's end, of
 * which Docker may tell later.
 */
static void note_view_end(struct loop *r)
{
	if (!r->view->says.done || !r->view->is_hidden)
		beside_lose_view(r);
	else if (r->course.due[COURSE_VIEW] == 0)
		timers_set(r, COURSE_VIEW);
}

void beside_take_view(struct loop *r)
{
	bool running = !parts_ending(r);
	struct view *v = r->view;
	struct err err;

	if (!v)
		return;
	if (view_pump(v, &err) < 0) {
		loop_stop(r, &err);
		/* what it says from here on is not listened to */
		fd_close(&v->out);
		v->out = -1;
		return;
	}
	if (running && (v->out < 0 || v->pid == 0))
		note_view_end(r);
	else if (v->ready && !r->at.view_ready)
		r->at.view_ready = loop_elapsed(r);
}

/* --- all ----------------------------------------------------------------- */

bool beside_is_ready(const struct loop *r)
{
	return r->gate->ready && (!r->view || r->view->ready) &&
	       (!r->tracer || r->tracer->state >= TRACER_READY);
}
