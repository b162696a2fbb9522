/*
 * What the files of the loop share: one function for each thing that another
 * of them has it do. Their names say where they are.
 */
#ifndef RUNTIME_LAUNCH_LOOP_PARTS_H
#define RUNTIME_LAUNCH_LOOP_PARTS_H

#include "runtime/launch/loop/loop.h"

#define PARTS_GATE_ENDED "the gate ended"
#define PARTS_VIEW_ENDED "the view of the workspace ended"

static inline bool parts_starting(const struct loop *r)
{
	return r->course.state < COURSE_AGENT;
}

static inline bool parts_ending(const struct loop *r)
{
	return r->course.state >= COURSE_ENDING;
}

/* --- steps.c --- */
/* What that event makes of the state, and all that goes with it. */
void steps_take(struct loop *r, enum course_event event);

/* --- timers.c --- */
/* From now on, for as long as that timer has. */
void timers_set(struct loop *r, enum course_timer t);
void timers_clear(struct loop *r, enum course_timer t);
void timers_act(struct loop *r);
/* Docker has said something: what waits for its containers looks at once. */
void timers_hurry(struct loop *r);
/* Milliseconds that one poll may take. */
int timers_wait(struct loop *r);

/* What timers do when they are due: true sets the timer again. */

/*
 * Kill the agent's container through Docker, and if need be its command. That
 * may be about to make the container: again, until it has ended.
 */
bool steps_kill_agent(struct loop *r);
bool steps_reach_limit(struct loop *r);
/* Docker's events tell of it at once; should they not come, this does. */
bool agent_look(struct loop *r);
/*
 * Nothing else can be in the way of the agent's mounts: it starts. Otherwise
 * true, and once more a little later.
 */
bool agent_get_ready(struct loop *r);
bool events_rescue_paused(struct loop *r);
/* The first signal that came, to the agent. */
bool incoming_pass_on(struct loop *r);
/* The bridge link: the gate waits for it, and Docker knows the gate soon. */
bool beside_join_network(struct loop *r);
/* Without it the agent has no files any more: it cannot go on. */
bool beside_lose_view(struct loop *r);
bool progress_say(struct loop *r);

/* --- agent.c --- */
/* Where the engine can: all of the agent but its program, while the gate
 * starts. */
void agent_hold(struct loop *r);
void agent_note_runs(struct loop *r);
/* Once it runs: at once, before anything else is looked at. */
void agent_check_start(struct loop *r);

/* --- events.c, incoming.c: what comes from outside --- */
void events_take(void *loop, const struct engine_event *e);
void incoming_take(struct loop *r);

/* --- beside.c --- */
/* What they have said, and whether they are there. */
void beside_take_gate(struct loop *r);
void beside_take_tracer(struct loop *r);
void beside_take_view(struct loop *r);
/* The tracer, which is told to end, and made to. */
void beside_tend_tracer(struct loop *r);
/* Why a session does not go on without it. */
void beside_say_tracer(const struct loop *r, struct err *err);
/* Have it write what is left, as soon as nothing else needs it. */
void beside_end_tracer(struct loop *r);
void beside_leave_uplink(struct loop *r);
bool beside_is_ready(const struct loop *r);

/* --- status.c --- */
/* The first reason counts. */
void status_note(struct loop *r, const struct err *why);
/* The exit status, or a negative errno. */
int status_exit(struct loop *r, struct err *err);

#endif
