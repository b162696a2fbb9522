/*
 * Tracee's output on its way into the trace's files.
 *
 * JSON lines on its stdout, of all containers that are new: those of the
 * agent's container, and of those within, are kept as they are, packed into
 * gzip members. What it logs on stderr says that it is ready, what it lost,
 * and what it cannot record; all of that is counted, and written as the last
 * record of the trace, which has the shape of the built-in tracer's.
 *
 * Knows no process and no pipe: see tracer.c.
 */
#ifndef RUNTIME_LAUNCH_TRACER_TRACEE_H
#define RUNTIME_LAUNCH_TRACER_TRACEE_H

#include "compiler/base/buf.h"
#include "compiler/base/err.h"
#include "runtime/launch/tracer/tracee_scope.h"

#include <cjson/cJSON.h>

#define TRACEE_LINE_MAX	   (1u << 20)
#define TRACEE_BLOCK_BYTES (256u << 10) /* of lines; then a member is made */
#define TRACEE_BLOCK_MS	   500
#define TRACEE_PENDING_MAX (4u << 20) /* of lines that may be the agent's */
#define TRACEE_QUIET_MS	   700	 /* twice the time for which Tracee polls */
#define TRACEE_DRAIN_MS	   5000	 /* at most, after the agent's end */
#define TRACEE_SILENT_MS   15000 /* without one record of a running agent */
#define TRACEE_TEXT	   256
#define TRACEE_WITHOUT_MAX 512 /* events that it cannot record */

/* Why a trace lacks something. */
struct tracee_counts {
	uint64_t events, others;
	uint64_t lost;	   /* as Tracee says */
	uint64_t broken;   /* lines that are no record */
	uint64_t unplaced; /* records of which nobody can say whose */
	uint64_t errors;   /* that Tracee reported while the agent ran */
};

typedef int tracee_write(void *ctx, struct str member, struct err *err);

struct tracee {
	struct arena *a;
	struct tracee_scope scope;
	const char *release;   /* "0.24.1" */
	VEC(struct str) names; /* of the events that are wanted */
	VEC(struct str) without;
	bool sees_start; /* each container begins with a record */
	bool is_ready, is_ending;
	int64_t agent_ms, last_ms; /* the agent's start; the last record */
	struct tracee_counts n;
	char first_error[TRACEE_TEXT];
	char *line; /* room for TRACEE_LINE_MAX */
	size_t line_n;
	bool skipping; /* the rest of a line that is too long */
	struct {
		char *p; /* room for TRACEE_PENDING_MAX; each with its LF */
		size_t n;
		int64_t looked_ms;
	} pending;
	struct {
		char *p; /* lines, until there are enough for a member */
		size_t n, room;
		int64_t since_ms;
	} block;
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
/* NULL is allowed. The counts stay, and what tracee_lacks() says. */
void tracee_free(struct tracee *t);
/* The agent's container, as Docker names it; again is no harm. */
void tracee_agent(struct tracee *t, const char *id);
/* Bytes of its stdout. */
must_check int tracee_output(struct tracee *t, struct str got, int64_t now_ms,
			     struct err *err);
/* What waits for its time. -ETIMEDOUT: the agent runs, and it says nothing. */
must_check int tracee_tick(struct tracee *t, int64_t now_ms, struct err *err);
/*
 * A line of its stderr. *why is kept, or becomes the reason why it ended,
 * should it end now.
 */
must_check int tracee_said(struct tracee *t, struct str line, struct err *why,
			   struct err *err);
/* Its output has ended: write what there is. */
must_check int tracee_settle(struct tracee *t, struct err *err);
/* And, where that was its proper end, the last record. */
must_check int tracee_end(struct tracee *t, struct err *err);
/* Events that no file has. */
uint64_t tracee_lost(const struct tracee *t);
/* What else the trace lacks, in a few words; "" when that is nothing. */
struct str tracee_lacks(struct arena *a, const struct tracee *t);

#endif
