#include "runtime/launch/loop/course.h"

#include <stdlib.h>

static struct course_step stay_in(enum course_state state, unsigned acts)
{
	return (struct course_step){state, acts, false};
}

static struct course_step go_to(enum course_state state, unsigned acts)
{
	return (struct course_step){state, acts, true};
}

static struct course_step after_deadline(enum course_state state)
{
	switch (state) {
	case COURSE_STARTING:
	case COURSE_QUEUED:
		return go_to(COURSE_ENDING, COURSE_SAY_LATE |
						    COURSE_KILL_AGENT |
						    COURSE_END_REST);
	case COURSE_AGENT: /* which has none */
	case COURSE_ASKED:
		return go_to(COURSE_ENDING,
			     COURSE_KILL_AGENT | COURSE_END_REST);
	case COURSE_ENDING:
		return go_to(COURSE_REMOVING,
			     COURSE_KILL_AGENT | COURSE_REMOVE_REST);
	case COURSE_REMOVING:
	case COURSE_FORCING:
		return go_to(COURSE_FORCING, COURSE_KILL_ALL);
	}
	abort();
}

struct course_step course_after(enum course_state state,
				enum course_event event)
{
	bool starts = state < COURSE_AGENT, ends = state >= COURSE_ENDING;

	switch (event) {
	case COURSE_OTHERS_FIRST:
		return state == COURSE_STARTING ? go_to(COURSE_QUEUED, 0)
						: stay_in(state, 0);
	case COURSE_AGENT_SPAWNED:
		return starts ? go_to(COURSE_AGENT, 0)
			      : stay_in(state, ends ? COURSE_KILL_AGENT : 0);
	case COURSE_SIGNAL:
		if (state == COURSE_AGENT)
			return go_to(COURSE_ASKED, COURSE_PASS_ON);
		/* which may be held */
		return starts ? go_to(COURSE_ENDING, COURSE_KILL_AGENT |
							     COURSE_END_REST)
			      : stay_in(state, 0);
	case COURSE_SIGNAL_AGAIN:
		return stay_in(state, COURSE_KILL_AGENT);
	case COURSE_AGENT_DIED:
		/* its container is still being removed: use that time */
	case COURSE_AGENT_ENDED:
		return starts || ends ? stay_in(state, 0)
				      : go_to(COURSE_ENDING, COURSE_END_REST);
	case COURSE_FAILURE:
		return ends ? stay_in(state, COURSE_KILL_AGENT)
			    : go_to(COURSE_ENDING,
				    COURSE_KILL_AGENT | COURSE_END_REST);
	case COURSE_DEADLINE:
		return after_deadline(state);
	}
	abort();
}

/* --- what waits for its time ---------------------------------------------- */

void course_set(struct course *c, enum course_timer t, int64_t due_ms)
{
	c->due[t] = due_ms;
}

void course_hurry(struct course *c, enum course_timer t, int64_t now_ms)
{
	if (c->due[t])
		c->due[t] = now_ms;
}

bool course_take(struct course *c, enum course_timer t, int64_t now_ms)
{
	if (c->due[t] == 0 || now_ms < c->due[t])
		return false;
	c->due[t] = 0;
	return true;
}

int course_wait(const struct course *c, int64_t now_ms, int most_ms)
{
	int64_t wait = most_ms;

	for (size_t i = 0; i < COURSE_TIMERS; i++)
		if (c->due[i] && c->due[i] - now_ms < wait)
			wait = c->due[i] - now_ms;
	return wait < 0 ? 0 : (int)wait;
}
