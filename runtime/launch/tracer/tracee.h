/*
 * Tracee's output on its way into the trace's files. Unproven: written against
 * what its source and documentation say of releases 0.20 to 0.24, and never run
 * against Tracee itself.
 *
 * JSON lines on its stdout, of all containers that are new: those of the
 * agent's container are kept as they are, packed into gzip members, and what is
 * no record is counted. Of what it logs on stderr three things are read: that
 * it is ready, how many events it lost, and why it ended.
 *
 * Knows no process and no pipe: see tracer.c.
 */
#ifndef RUNTIME_LAUNCH_TRACER_TRACEE_H
#define RUNTIME_LAUNCH_TRACER_TRACEE_H

#include "compiler/base/arena.h"
#include "compiler/base/err.h"

#include <cjson/cJSON.h>

#define TRACEE_ROOM	(4u << 20) /* a line, or what waits for the agent */
#define TRACEE_DRAIN_MS 1000	   /* for what the agent did last; it polls */

typedef int tracee_write(void *ctx, struct str member, struct err *err);

struct tracee {
	struct arena *a;
	const char *release; /* "0.24.1" */
	const char *agent;   /* its container's id; NULL: nobody knows yet */
	bool is_ready;
	uint64_t events, others;
	uint64_t lost;	 /* as it says */
	uint64_t broken; /* lines that are no record */
	char *text;	 /* room for TRACEE_ROOM: lines, the last one begun */
	size_t n;
	tracee_write *write; /* takes a gzip member */
	void *write_ctx;
};

/*
 * plan: trace.json.
 *   -EPROTO  it is not, or not for Tracee
 */
must_check int tracee_new(struct arena *a, const cJSON *plan,
			  tracee_write *write, void *write_ctx,
			  struct tracee **out, struct err *err);
/* NULL is allowed. The counts stay. */
void tracee_free(struct tracee *t);
/*
 * What the image says of itself, "Tracee version: v0.24.1", against trace.json.
 *   -EPROTO  another release, or none
 */
must_check int tracee_check_release(const cJSON *plan, const char *said,
				    struct err *err);
/*
 * The agent's container, as Docker names it; before that records wait. Again is
 * no harm.
 */
must_check int tracee_agent(struct tracee *t, const char *id, struct err *err);
/*
 * Bytes of its stdout.
 *   -ENOBUFS  more than there is room for
 */
must_check int tracee_output(struct tracee *t, struct str got, struct err *err);
/*
 * A line of its stderr. *why is kept, or becomes the reason why it ended,
 * should it end now.
 */
must_check int tracee_said(struct tracee *t, struct str line, struct err *why,
			   struct err *err);
/* It ended as it was told to: write the last record. */
must_check int tracee_end(struct tracee *t, struct err *err);

#endif
