/*
 * What Docker tells of the containers of the session.
 */
#include "runtime/launch/loop/parts.h"

#include <string.h>

static void note_pause(struct loop *r, const struct engine_event *e)
{
	if (strcmp(e->action, "pause") == 0) {
		r->paused = arena_cstr(r->a, str_of(e->id));
		timers_set(r, COURSE_PAUSE);
	} else if (strcmp(e->action, "unpause") == 0) {
		r->paused = NULL;
		timers_clear(r, COURSE_PAUSE);
	}
}

bool events_rescue_paused(struct loop *r)
{
	(void)r->on_paused(r->ctx, r->paused);
	return true;
}

void events_take(void *ctx, const struct engine_event *e)
{
	struct loop *r = ctx;

	timers_hurry(r);
	if (strcmp(e->role, "gate") == 0) {
		if (strcmp(e->action, "start") == 0)
			r->at.gate_started = loop_elapsed(r);
		if (strcmp(e->action, "die") == 0)
			r->at.gate_died = loop_elapsed(r);
		if (strcmp(e->action, "destroy") == 0)
			r->gate_removed = true;
	}
	if (strcmp(e->role, "tracer") == 0 && strcmp(e->action, "destroy") == 0)
		r->tracer_removed = true;
	if (strcmp(e->role, "view") == 0 && strcmp(e->action, "destroy") == 0)
		r->view_removed = true;
	if (strcmp(e->role, "agent") != 0)
		return;
	if (r->tracer && tracer_wants_agent(r->tracer))
		tracer_agent(r->tracer, e->id);
	note_pause(r, e);
	if (strcmp(e->action, "create") == 0)
		r->at.agent_created = loop_elapsed(r);
	if (strcmp(e->action, "destroy") == 0)
		r->agent_removed = true;
	if (strcmp(e->action, "start") == 0) {
		r->at.agent_started = loop_elapsed(r);
		agent_note_runs(r);
	}
	if (strcmp(e->action, "die") == 0 && !parts_starting(r) &&
	    !parts_ending(r)) {
		r->at.agent_died = loop_elapsed(r);
		timers_clear(r, COURSE_RESEND);
		steps_take(r, COURSE_AGENT_DIED);
	}
}
