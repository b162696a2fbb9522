#include "runtime/launch/loop/loop.h"

#include "compiler/base/sys/clock.h"
#include "compiler/base/sys/proc.h"
#include "runtime/launch/loop/parts.h"
#include "runtime/launch/loop/progress.h"

#include <errno.h>
#include <poll.h>

int64_t loop_elapsed(const struct loop *r)
{
	int64_t ms = clock_ms() - r->begun;

	return ms > 0 ? ms : 1;
}

void loop_stop(struct loop *r, const struct err *why)
{
	status_note(r, why);
	steps_take(r, COURSE_FAILURE);
}

bool loop_left_nothing(const struct loop *r)
{
	return r->gate_removed && (r->agent_removed || !r->agent_made) &&
	       (r->tracer_removed || !r->tracer) &&
	       (r->view_removed || !r->view);
}

/* --- one turn ------------------------------------------------------------- */

static size_t loop_fds(const struct loop *r, struct pollfd *out)
{
	const struct tracer *t = r->tracer;
	const struct view *v = r->view;
	int fds[] = {proc_signals_fd(),
		     r->gate->out,
		     r->gate->err,
		     t ? t->out : -1,
		     t ? t->err : -1,
		     v ? v->out : -1,
		     v ? v->err : -1,
		     r->agent_runs ? -1 : r->caller,
		     r->agent_runs ? r->begun_fd : -1,
		     r->renewals ? r->renewals->out : -1};
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(fds); i++)
		out[n++] = (struct pollfd){.fd = fds[i], .events = POLLIN};
	if (v && view_has_to_say(v))
		out[n++] = (struct pollfd){.fd = v->in, .events = POLLOUT};
	if (r->tell)
		n += tell_fds(r->tell, out + n);
	if (!parts_starting(r) && !parts_ending(r))
		n += control_fds(r->control, out + n);
	return n + (r->stage ? stage_fds(r->stage, out + n) : 0);
}

/* Questions that nobody was told of yet. */
static void take_questions(struct loop *r)
{
	struct err err;

	if (questions_pump(r->questions, &err) < 0)
		loop_stop(r, &err);
}

/* Changes of the policy: while the agent runs, and only then. */
static void take_control(struct loop *r)
{
	struct err err;

	if (parts_ending(r)) {
		questions_close(r->questions);
		control_close(r->control);
	} else if (!parts_starting(r) && control_pump(r->control, &err) < 0)
		loop_stop(r, &err);
}

/* What is not on record, on record; until_ms: which lines are due. */
static int note_losses(struct loop *r, int64_t until_ms, struct err *err)
{
	struct arena *a;
	struct buf lines;
	int rc;

	losses_know(&r->losses, r->gate, r->tracer);
	if (!losses_are_due(&r->losses, until_ms))
		return 0;
	a = arena_new();
	buf_init(&lines, a);
	losses_lines(&r->losses, until_ms, clock_ms(), &lines);
	rc = gate_note(r->gate, buf_str(&lines), err);
	arena_free(a);
	return rc;
}

static void take_losses(struct loop *r)
{
	struct err err;

	if (note_losses(r, clock_ms(), &err) < 0)
		loop_stop(r, &err);
}

/* New tokens, or none: the gate hears of it. */
static void take_renewals(struct loop *r)
{
	struct err err;

	if (r->renewals && parts_ending(r))
		renewals_done(r->renewals);
	else if (r->renewals && renewals_pump(r->renewals, &err) < 0)
		loop_stop(r, &err);
}

/* Who waits for the agent went away, and would never know of it. */
static void check_caller(struct loop *r)
{
	struct pollfd p = {.fd = r->agent_runs ? -1 : r->caller,
			   .events = POLLIN};
	struct err err;

	if (parts_ending(r) || poll(&p, 1, 0) <= 0)
		return;
	r->caller = -1;
	err_set(&err, -ECANCELED, "who started this session is gone");
	loop_stop(r, &err);
}

static void pump_all(struct loop *r)
{
	agent_check_start(r);
	beside_leave_uplink(r);
	incoming_take(r);
	beside_take_gate(r);
	beside_take_tracer(r);
	beside_take_view(r);
	if (r->stage)
		stage_pump(r->stage, r->agent);
	take_questions(r);
	take_control(r);
	take_renewals(r);
	take_losses(r);
	if (r->tell)
		tell_pump(r->tell);
	check_caller(r);
	beside_tend_tracer(r);
	if (r->course.state == COURSE_STARTING)
		agent_hold(r);
	if (r->course.state == COURSE_STARTING && agent_get_ready(r))
		timers_set(r, COURSE_QUEUE);
	timers_act(r);
	if (r->agent == 0 && r->agent_removed && r->on_agent_gone) {
		r->on_agent_gone(r->ctx);
		r->on_agent_gone = NULL;
	}
}

/* --- from the first to the last --------------------------------------------
 */

/* A session that failed before this has as long: its gate may still start. */
static void set_first_timers(struct loop *r)
{
	course_set(&r->course, COURSE_LIMIT, clock_ms() + LOOP_READY_MS);
	if (r->network)
		timers_set(r, COURSE_JOIN);
	if (parts_starting(r))
		course_set(&r->course, COURSE_PROGRESS,
			   r->begun + LOOP_PROGRESS_MS);
}

/* Nothing runs any more, and all that gate and view said has been read. */
static bool is_over(const struct loop *r)
{
	const struct tracer *t = r->tracer;
	const struct view *v = r->view;
	bool read_all = r->gate->out < 0 && r->gate->err < 0 &&
			(!t || (t->out < 0 && t->err < 0)) &&
			(!v || (v->out < 0 && v->err < 0));

	if (r->stage && r->agent_made && !stage_is_over(r->stage))
		read_all = false;
	/* a helper of docker's may still hold a pipe: not for ever */
	return r->agent == 0 && r->gate->pid == 0 && (!t || t->pid == 0) &&
	       (!v || v->pid == 0) &&
	       (read_all || r->course.state > COURSE_ENDING);
}

/*
 * All went as it should: the agent's container is gone, and gate, tracer and
 * view have said their last. Docker removes what is left of them.
 */
static bool can_leave(const struct loop *r)
{
	return r->may_leave && r->agent == 0 && r->agent_removed &&
	       !r->failed && !r->signal.number &&
	       r->course.state <= COURSE_ENDING && r->gate->says.done &&
	       (!r->tracer || tracer_is_done(r->tracer)) &&
	       (!r->view || r->view->says.done);
}

int loop_run(struct loop *r, struct err *err)
{
	struct pollfd fds[ENGINE_FDS_MAX];
	struct err ignored;

	set_first_timers(r);
	if (r->engine->ops->follow(r->engine, events_take, r, &ignored) < 0)
		r->at.agent_died = 0; /* then the commands' ends tell */
	incoming_take(r);
	while (!is_over(r) && !can_leave(r)) {
		if (r->engine->ops->poll(r->engine, fds, loop_fds(r, fds),
					 timers_wait(r), &ignored) < 0)
			loop_stop(r, &ignored);
		pump_all(r);
	}
	if (note_losses(r, INT64_MAX, &ignored) < 0)
		status_note(r, &ignored);
	r->left = !is_over(r);
	progress_clear(r);
	return status_exit(r, err);
}
