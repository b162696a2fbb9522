/* Every transition of a session, events in odd orders, and the timers. */
#include "runtime/launch/loop/course.h"

#include "tests/check.h"
#include "tests/rng.h"

#define STATES 7
#define EVENTS 8
#define KILL   COURSE_KILL_AGENT
#define END    COURSE_END_REST

static const char *const names[STATES] = {"starting", "queued", "agent",
					  "asked",    "ending", "removing",
					  "forcing"};

/* One row for each state that an event finds. */
struct row {
	enum course_state to;
	unsigned acts;
};

static void check_event(enum course_event event, const struct row rows[STATES])
{
	for (unsigned i = 0; i < STATES; i++) {
		struct course_step got = course_after(i, event);

		CHECK_MSG(got.to == rows[i].to, "%s, event %u: %s", names[i],
			  event, names[got.to]);
		CHECK_MSG(got.acts == rows[i].acts, "%s, event %u: %x",
			  names[i], event, got.acts);
		/* a new state has its own time, and only a deadline that has
		 * passed gives the same state another */
		CHECK_MSG(got.has_new_time ==
				  (got.to != i || event == COURSE_DEADLINE),
			  "%s, event %u", names[i], event);
	}
}

static void test_agent_events(void)
{
	check_event(COURSE_OTHERS_FIRST, (struct row[]){{COURSE_QUEUED, 0},
							{COURSE_QUEUED, 0},
							{COURSE_AGENT, 0},
							{COURSE_ASKED, 0},
							{COURSE_ENDING, 0},
							{COURSE_REMOVING, 0},
							{COURSE_FORCING, 0}});
	check_event(COURSE_AGENT_SPAWNED,
		    (struct row[]){{COURSE_AGENT, 0},
				   {COURSE_AGENT, 0},
				   {COURSE_AGENT, 0},
				   {COURSE_ASKED, 0},
				   {COURSE_ENDING, KILL},
				   {COURSE_REMOVING, KILL},
				   {COURSE_FORCING, KILL}});
	for (unsigned i = 0; i < 2; i++)
		check_event(i ? COURSE_AGENT_ENDED : COURSE_AGENT_DIED,
			    (struct row[]){{COURSE_STARTING, 0},
					   {COURSE_QUEUED, 0},
					   {COURSE_ENDING, END},
					   {COURSE_ENDING, END},
					   {COURSE_ENDING, 0},
					   {COURSE_REMOVING, 0},
					   {COURSE_FORCING, 0}});
}

static void test_end_events(void)
{
	check_event(COURSE_SIGNAL,
		    (struct row[]){{COURSE_ENDING, KILL | END},
				   {COURSE_ENDING, KILL | END},
				   {COURSE_ASKED, COURSE_PASS_ON},
				   {COURSE_ASKED, 0},
				   {COURSE_ENDING, 0},
				   {COURSE_REMOVING, 0},
				   {COURSE_FORCING, 0}});
	check_event(COURSE_SIGNAL_AGAIN,
		    (struct row[]){{COURSE_STARTING, KILL},
				   {COURSE_QUEUED, KILL},
				   {COURSE_AGENT, KILL},
				   {COURSE_ASKED, KILL},
				   {COURSE_ENDING, KILL},
				   {COURSE_REMOVING, KILL},
				   {COURSE_FORCING, KILL}});
	check_event(COURSE_FAILURE, (struct row[]){{COURSE_ENDING, KILL | END},
						   {COURSE_ENDING, KILL | END},
						   {COURSE_ENDING, KILL | END},
						   {COURSE_ENDING, KILL | END},
						   {COURSE_ENDING, KILL},
						   {COURSE_REMOVING, KILL},
						   {COURSE_FORCING, KILL}});
	check_event(
		COURSE_DEADLINE,
		(struct row[]){{COURSE_ENDING, COURSE_SAY_LATE | KILL | END},
			       {COURSE_ENDING, COURSE_SAY_LATE | KILL | END},
			       {COURSE_ENDING, KILL | END},
			       {COURSE_ENDING, KILL | END},
			       {COURSE_REMOVING, KILL | COURSE_REMOVE_REST},
			       {COURSE_FORCING, COURSE_KILL_ALL},
			       {COURSE_FORCING, COURSE_KILL_ALL}});
}

/* Whatever comes, in whatever order: what must hold of each session. */
static void test_odd_orders(void)
{
	struct rng rng = {4711};

	for (unsigned trial = 0; trial < 2000; trial++) {
		enum course_state state = COURSE_STARTING;
		bool was_asked_to_end = false, is_wrong = false;

		for (unsigned i = 0; i < 40; i++) {
			enum course_event e = rng_below(&rng, EVENTS);
			struct course_step s = course_after(state, e);

			/* never back */
			is_wrong |= s.to < state;
			/* the gate is asked to end once, on the way to ENDING,
			 * and nobody gets past that without it */
			is_wrong |= was_asked_to_end && s.acts & END;
			is_wrong |= (state < COURSE_ENDING &&
				     s.to >= COURSE_ENDING) != !!(s.acts & END);
			was_asked_to_end |= !!(s.acts & END);
			is_wrong |= was_asked_to_end != (s.to >= COURSE_ENDING);
			/* what fails never leaves an agent alone */
			is_wrong |= e == COURSE_FAILURE && !(s.acts & KILL);
			/* an agent runs only where it may still be killed */
			is_wrong |= e == COURSE_AGENT_SPAWNED &&
				    s.to >= COURSE_ENDING && !(s.acts & KILL);
			state = s.to;
		}
		/* and whatever it was, deadlines alone end it by force */
		for (unsigned i = 0; i < 3; i++)
			state = course_after(state, COURSE_DEADLINE).to;
		is_wrong |= state != COURSE_FORCING;
		CHECK_MSG(!is_wrong, "trial %u", trial);
	}
}

static void test_timers(void)
{
	struct course c = {0};

	CHECK(c.state == COURSE_STARTING);
	CHECK(course_wait(&c, 1000, 60000) == 60000);
	CHECK(!course_take(&c, COURSE_LOOK, 1000));
	course_set(&c, COURSE_LIMIT, 61500);
	CHECK(course_wait(&c, 1000, 60000) == 60000);
	CHECK(course_wait(&c, 2000, 60000) == 59500);
	course_set(&c, COURSE_LOOK, 2500);
	CHECK(course_wait(&c, 2000, 60000) == 500);
	CHECK(!course_take(&c, COURSE_LOOK, 2499));
	/* late is due as well, and nothing waits for less than no time */
	CHECK(course_wait(&c, 9000, 60000) == 0);
	CHECK(course_take(&c, COURSE_LOOK, 9000));
	CHECK(!course_take(&c, COURSE_LOOK, 9000));
	CHECK(course_wait(&c, 9000, 60000) == 52500);
	course_set(&c, COURSE_LIMIT, 0);
	CHECK(!course_take(&c, COURSE_LIMIT, INT64_MAX));
}

static void test_hurry(void)
{
	struct course c = {0};

	course_hurry(&c, COURSE_JOIN, 1000);
	CHECK(!course_take(&c, COURSE_JOIN, 1000));
	course_set(&c, COURSE_JOIN, 1050);
	course_set(&c, COURSE_RESEND, 1040);
	course_hurry(&c, COURSE_JOIN, 1010);
	CHECK(course_wait(&c, 1010, 60000) == 0);
	CHECK(course_take(&c, COURSE_JOIN, 1010));
	CHECK(!course_take(&c, COURSE_RESEND, 1010));
	CHECK(course_take(&c, COURSE_RESEND, 1040));
	CHECK(course_wait(&c, 1040, 60000) == 60000);
}

int main(void)
{
	test_agent_events();
	test_end_events();
	test_odd_orders();
	test_timers();
	test_hurry();
	return check_status();
}
