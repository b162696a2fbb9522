/*
 * What waits for its time: when each is due, and what is done then.
 */
#include "runtime/launch/loop/parts.h"

#include "compiler/base/sys/clock.h"

#define RETRY_MS    50	  /* for a container that Docker is still making */
#define LOOK_MS	    500	  /* for a container of which no event came */
#define LATE_MS	    100	  /* between looks at others that start here */
#define PAUSED_MS   1000  /* between looks at who has paused the agent */
#define WAIT_MAX_MS 60000 /* of one poll */

/*
 * When each is due, counted from when it is set, and what is done then: true
 * sets it again. The limit's time is that of the state. What tracer,
 * control socket and tell wait for only ends the poll: each turn looks after
 * them.
 */
static const struct {
	int after_ms;
	bool (*act)(struct loop *r);
} timers[COURSE_TIMERS] = {
	[COURSE_LOOK] = {LOOK_MS, agent_look},
	[COURSE_JOIN] = {RETRY_MS, beside_join_network},
	[COURSE_PAUSE] = {PAUSED_MS, events_rescue_paused},
	[COURSE_RESEND] = {RETRY_MS, incoming_pass_on},
	[COURSE_REKILL] = {RETRY_MS, steps_kill_agent},
	[COURSE_QUEUE] = {LATE_MS, agent_get_ready},
	[COURSE_PROGRESS] = {LOOP_PROGRESS_MS, progress_say},
	[COURSE_VIEW] = {LOOP_VIEW_MS, beside_lose_view},
	[COURSE_LIMIT] = {0, steps_reach_limit},
};

void timers_set(struct loop *r, enum course_timer t)
{
	course_set(&r->course, t, clock_ms() + timers[t].after_ms);
}

void timers_clear(struct loop *r, enum course_timer t)
{
	course_set(&r->course, t, 0);
}

void timers_act(struct loop *r)
{
	int64_t now = clock_ms();

	for (enum course_timer t = 0; t < COURSE_TIMERS; t++)
		if (course_take(&r->course, t, now) && timers[t].act &&
		    timers[t].act(r))
			timers_set(r, t);
}

void timers_hurry(struct loop *r)
{
	int64_t now = clock_ms();

	course_hurry(&r->course, COURSE_JOIN, now);
	course_hurry(&r->course, COURSE_RESEND, now);
	course_hurry(&r->course, COURSE_REKILL, now);
}

int timers_wait(struct loop *r)
{
	int64_t now = clock_ms();
	int tracer = r->tracer ? tracer_wait_ms(r->tracer) : -1;

	course_set(&r->course, COURSE_TRACER, tracer >= 0 ? now + tracer : 0);
	course_set(&r->course, COURSE_CONTROL, control_deadline(r->control));
	course_set(&r->course, COURSE_TELL,
		   clock_earlier(losses_deadline(&r->losses),
				 clock_earlier(
					 r->tell ? tell_deadline(r->tell) : 0,
					 questions_deadline(r->questions))));
	return course_wait(&r->course, now, WAIT_MAX_MS);
}
