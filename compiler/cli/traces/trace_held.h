/*
 * Lines of the story on their way to be printed: put in the order of their
 * times. A trace is written as events come, and what a resolver answered comes
 * a few milliseconds behind what was done with the answer.
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

struct told {
	uint64_t at_ns;
	int64_t pid, host_pid;
	int64_t error; /* as returned; 0: none */
	unsigned depth;
	const char *what;
	struct kept comm, text, folder; /* cleaned for a terminal */
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
/* The oldest, until the next call; NULL when there is none. */
const struct told *held_take(struct held *h);

#endif
