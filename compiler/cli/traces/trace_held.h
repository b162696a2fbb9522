/*
 * Lines of the story on their way to be printed: put in the order of their
 * times, and causes before their effects. A trace is written as events come,
 * and what a resolver answered comes a few milliseconds behind what was done
 * with the answer; by two clocks, it may even be earlier than the question.
 */
#ifndef COMPILER_CLI_TRACES_TRACE_HELD_H
#define COMPILER_CLI_TRACES_TRACE_HELD_H

#include "compiler/cli/traces/trace_line.h"

#define HELD_LINES  128u
#define HELD_LATE_S 1u /* later than that is another trace */

/* A text that outlives the record it is from. */
struct kept {
	char *p;
	size_t n, room;
};
void kept_set(struct kept *k, struct str s);
struct str kept_str(const struct kept *k);
void kept_done(struct kept *k);

/* What a line is to others that belong to it. */
enum told_role {
	TOLD_ALONE,
	TOLD_QUESTION, /* of a resolver: about "example.com A", to its address
			*/
	TOLD_ANSWER,   /* about the same, to the addresses that it gave */
	TOLD_FLOW,     /* something sent, or connected, to an address */
};

struct told {
	uint64_t at_ns;
	int64_t pid, host_pid;
	int64_t error; /* as returned; 0: none */
	unsigned depth;
	enum told_role role;
	bool is_datagram; /* TOLD_FLOW: and to a resolver's port */
	bool is_noise;	  /* what most programs read when they begin */
	const char *what;
	struct kept comm, text, folder; /* cleaned for a terminal */
	struct kept about;		/* "example.com A" */
	struct kept to; /* addresses as they are written, each in blanks */
};

struct held {
	struct told line[HELD_LINES];
	struct told *order[HELD_LINES]; /* the first n by time, then free */
	unsigned n;
};

void held_init(struct held *h);
void held_done(struct held *h);
/* Must something be taken out before a line of that time goes in? */
bool held_must_yield(const struct held *h, uint64_t at_ns);
/* Room for that line, behind those of the same time: to be filled. */
struct told *held_add(struct held *h, uint64_t at_ns);
/*
 * t is filled: put it where its causes and effects want it, which the times
 * need not. An answer stands behind its question and before what its own
 * process did with it; of a datagram that carried a question, the question
 * alone is left.
 */
void held_settle(struct held *h, struct told *t);
/* The oldest, until the next call; NULL when there is none. */
const struct told *held_take(struct held *h);

#endif
