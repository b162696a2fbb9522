/*
 * Signals that come: those for the agent are passed on, and of children that
 * ended it is noted how.
 */
#include "runtime/launch/loop/parts.h"

#include "compiler/base/sys/clock.h"
#include "compiler/base/sys/proc.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#define REPEAT_MS 300 /* signals closer than this are one */

static const char *signal_name(int signo)
{
	switch (signo) {
	case SIGINT:
		return "SIGINT";
	case SIGHUP:
		return "SIGHUP";
	case SIGQUIT:
		return "SIGQUIT";
	default:
		return "SIGTERM";
	}
}

bool incoming_pass_on(struct loop *r)
{
	struct err err;

	if (r->agent == 0)
		return false;
	/* a signal would let it go on, while another session counts on that
	 * it does not */
	if (r->paused && r->on_paused(r->ctx, r->paused))
		return true;
	/* not there or not running yet: until the deadline, again */
	return r->engine->ops->signal(r->engine, ENGINE_AGENT,
				      signal_name(r->signal.number),
				      &err) == -ENOENT;
}

static void on_signal(struct loop *r, const struct proc_signal *s)
{
	int64_t now = clock_ms();
	bool first = r->signal.number == 0;

	if (!first && now - r->signal.at < REPEAT_MS)
		return; /* timeout(1) sends to us and to our group */
	r->signal.at = now;
	if (first) {
		r->signal.number = s->signo;
		r->signal.is_shared = s->from_terminal && r->shares_terminal;
	}
	steps_take(r, first ? COURSE_SIGNAL : COURSE_SIGNAL_AGAIN);
}

/* All of the part is gone with its process, where the engine says so. */
static void note_ended(struct loop *r, enum engine_part part, bool *removed)
{
	*removed |= r->engine->ops->ended(r->engine, part);
}

static bool has_ended(pid_t pid, int *out_status)
{
	return pid && waitpid(pid, out_status, WNOHANG) == pid;
}

static void reap_children(struct loop *r)
{
	int status;

	if (has_ended(r->agent, &status)) {
		r->agent = 0;
		r->agent_status = proc_status(status);
		r->at.agent_ended = loop_elapsed(r);
		note_ended(r, ENGINE_AGENT, &r->agent_removed);
		steps_take(r, COURSE_AGENT_ENDED);
	}
	if (has_ended(r->gate->pid, &status)) {
		r->gate->pid = 0;
		r->gate->status = proc_status(status);
		r->at.gate_ended = loop_elapsed(r);
		note_ended(r, ENGINE_GATE, &r->gate_removed);
	}
	if (r->view && has_ended(r->view->pid, &status)) {
		r->view->pid = 0;
		r->view->status = proc_status(status);
		note_ended(r, ENGINE_VIEW, &r->view_removed);
		if (parts_ending(r))
			beside_end_tracer(r);
	}
	questions_reap(r->questions);
	if (r->tracer && has_ended(r->tracer->pid, &status)) {
		/* the last chance to know whose its records are */
		agent_look(r);
		tracer_ended(r->tracer, proc_status(status));
		note_ended(r, ENGINE_TRACER, &r->tracer_removed);
	}
}

void incoming_take(struct loop *r)
{
	struct proc_signal s;
	bool child = false;

	while (proc_signals_next(&s)) {
		if (s.signo == SIGCHLD)
			child = true;
		else
			on_signal(r, &s);
	}
	if (child)
		reap_children(r);
}
