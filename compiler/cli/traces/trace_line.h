/*
 * One event as a line of the story: who, what, about what. Pure.
 */
#ifndef COMPILER_CLI_TRACES_TRACE_LINE_H
#define COMPILER_CLI_TRACES_TRACE_LINE_H

#include "compiler/base/buf.h"
#include "compiler/trace/event.h"

struct trace_line {
	const char *what;  /* "exec", "write", "connect" */
	struct str text;   /* cleaned for a terminal */
	struct str folder; /* of a file's path, else empty */
	const char *error; /* why it failed; NULL when it did not */
	/* "example.com A" of a question and of its answer, else empty. */
	struct str question;
	/* Addresses that it goes to, or that an answer gave: " 192.0.2.1 "
	 * each; empty where there are none. */
	struct str addresses;
	bool is_noise; /* a library, a locale, a zone that is read; nscd */
};

/* False for events that the story leaves out: forks, the trace's own. */
bool trace_line(struct arena *a, const struct trace_event *e,
		struct trace_line *out);
/* "14:03:07.482", of the day in UTC. */
#define TRACE_CLOCK_MAX 16
const char *trace_clock(uint64_t at_ns, char buf[TRACE_CLOCK_MAX]);
/* A program with its arguments, as a shell would take them. */
struct str trace_command(struct arena *a, const struct trace_event *e);

#endif
