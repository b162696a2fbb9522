#include "compiler/base/sys/clock.h"
/*
 * The course of a session: in which state it is, what an event makes of that,
 * and what waits for its time. Pure: it is told what happened and what time it
 * is, and says what to do; steps.c does it.
 *
 *	STARTING   The gate starts, tracer and view. Nothing of the agent runs.
 *	QUEUED     All are ready, but other sessions that start in the same
 *	           folders come first. Nothing of the agent runs.
 *	AGENT      The agent's docker command runs. Nothing limits its time.
 *	ASKED      A signal came. The agent has some seconds to end.
 *	ENDING     The gate was asked to end, tracer and view. The agent's
 *	           docker command may still be there.
 *	REMOVING   That took too long: Docker was told to remove all.
 *	FORCING    That took too long, too: the docker commands are killed,
 *	           again and again.
 *
 * A session goes down this list and never up. It may leave out states: the one
 * way past ENDING is a deadline, the one way to AGENT is a command that was
 * started. What fails leads to ENDING from everywhere above it. Where a session
 * is over is for loop.c to say: when its processes have ended.
 */
#ifndef RUNTIME_LAUNCH_LOOP_COURSE_H
#define RUNTIME_LAUNCH_LOOP_COURSE_H

#include <stdbool.h>
#include <stdint.h>

/* In this order: a session never goes back. */
enum course_state {
	COURSE_STARTING,
	COURSE_QUEUED,
	COURSE_AGENT,
	COURSE_ASKED,
	COURSE_ENDING,
	COURSE_REMOVING,
	COURSE_FORCING,
};

enum course_event {
	COURSE_OTHERS_FIRST,  /* ready, but the folders are not free */
	COURSE_AGENT_SPAWNED, /* its docker command */
	COURSE_SIGNAL,	      /* the first that we got */
	COURSE_SIGNAL_AGAIN,  /* any other; one that is only repeated is none */
	COURSE_AGENT_DIED,    /* Docker says so: its container is going */
	COURSE_AGENT_ENDED,   /* its docker command */
	COURSE_FAILURE,	      /* the session must not go on */
	COURSE_DEADLINE,      /* what the state waits for took too long */
};

/* What is to be done, in this order; several may be. */
enum course_act {
	COURSE_SAY_LATE = 1,	     /* the failure is that it was not ready */
	COURSE_PASS_ON = 1 << 1,     /* the signal, to the agent */
	COURSE_KILL_AGENT = 1 << 2,  /* if there is one, until it is gone */
	COURSE_END_REST = 1 << 3,    /* ask gate, tracer and view to end */
	COURSE_REMOVE_REST = 1 << 4, /* have Docker remove their containers */
	COURSE_KILL_ALL = 1 << 5,    /* the docker commands that are left */
};

struct course_step {
	enum course_state to;
	unsigned acts;	   /* of course_act */
	bool has_new_time; /* the deadline of `to` begins now */
};

/* All transitions. Any event may come in any state. */
struct course_step course_after(enum course_state state,
				enum course_event event);

/* What waits for its time, in the order in which it is looked after. */
enum course_timer {
	COURSE_LOOK,	 /* for a container of which no event came */
	COURSE_JOIN,	 /* the gate's place in the agent's network */
	COURSE_PAUSE,	 /* who has paused the agent? */
	COURSE_RESEND,	 /* the signal, which had no container yet */
	COURSE_REKILL,	 /* the agent, which was not there yet */
	COURSE_QUEUE,	 /* are the folders free? */
	COURSE_PROGRESS, /* a person is told what takes so long */
	COURSE_VIEW,	 /* the agent's end, which the view's tells of */
	COURSE_LIMIT,	 /* COURSE_DEADLINE */
	COURSE_TRACER,	 /* the tracer's own, */
	COURSE_CONTROL,	 /* the control socket's */
	COURSE_TELL,	 /* what is told of refusals */
	COURSE_TIMERS,
};

struct course {
	enum course_state state;
	int64_t due[COURSE_TIMERS]; /* clock_ms(); 0: not set */
};

/* Another time, or none: 0. */
void course_set(struct course *c, enum course_timer t, int64_t due_ms);
/* If it is set, it is due now. */
void course_hurry(struct course *c, enum course_timer t, int64_t now_ms);
/* Is it due? Then it is not set any more. */
bool course_take(struct course *c, enum course_timer t, int64_t now_ms);
/* Milliseconds until the first is due: 0 to most_ms. */
int course_wait(const struct course *c, int64_t now_ms, int most_ms);

#endif
