/*
 * What the files of this room share: the session that is exported, and the two
 * forms of it.
 */
#ifndef COMPILER_CLI_EXPORT_PARTS_H
#define COMPILER_CLI_EXPORT_PARTS_H

#include "compiler/base/json.h"
#include "compiler/cli/traces/past.h"
#include "compiler/cli/traces/trace_processes.h"
#include "compiler/plan/gate.h"

enum export_form {
	EXPORT_OTLP, /* logs, and then spans */
	EXPORT_OTLP_LOGS,
	EXPORT_OTLP_SPANS,
	EXPORT_OCSF,
};

struct exporting {
	struct arena *a;
	struct arena *line; /* of the record at hand, and its text */
	enum export_form form;
	struct past past;
	struct processes processes;
	uint64_t first_ns, last_ns; /* of the events */
	/* Of OTLP: records that wait for a line of their own. */
	cJSON *batch;
	unsigned batched;
	bool unwritten; /* nobody reads it */
	/* Of OCSF: questions that wait, for what becomes of them; NULL: free.
	 * More of them do not wait at a time. */
	cJSON *asked[GATE_QUESTIONS_MAX];
};

/* --- export.c ------------------------------------------------------------- */

/* On a line of its own; takes it. */
void export_put(struct exporting *x, cJSON *take);
/* A text as it may be shown; nothing where it is empty. */
void export_text(struct exporting *x, cJSON *o, const char *key, struct str s);
/* The time of a decision, since 1970. */
uint64_t export_time_ns(const cJSON *decision);

/* --- otlp.c --------------------------------------------------------------- */

void otlp_event(struct exporting *x, const struct trace_event *e,
		uint32_t node);
void otlp_decision(struct exporting *x, const cJSON *o);
void otlp_end(struct exporting *x);

/* --- ocsf.c --------------------------------------------------------------- */

void ocsf_event(struct exporting *x, const struct trace_event *e);
void ocsf_decision(struct exporting *x, const cJSON *o);
void ocsf_end(struct exporting *x);

#endif
