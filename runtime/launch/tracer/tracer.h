/*
 * The tracer as the launcher sees it: a docker command with three pipes.
 *
 * membrane-watch: told whose processes once the gate has said which namespaces
 * the agent will have; stdin's end is the trace's end. watch.h has the rest.
 *
 * Tracee: reads nothing, and ends with a signal that the caller sends when
 * tracer_tick() says so; tracee.h has the rest.
 *
 * A session can do without a tracer that fails, and says so, unless the plan
 * requires one: that is for the caller to decide.
 */
#ifndef RUNTIME_LAUNCH_TRACER_TRACER_H
#define RUNTIME_LAUNCH_TRACER_TRACER_H

#include "runtime/launch/engine/engine.h"
#include "runtime/launch/tracer/tracee.h"
#include "runtime/launch/tracer/tracefile.h"
#include "runtime/launch/tracer/watch.h"

#include <sys/types.h>

#define TRACER_LINE_MAX 4096u

enum tracer_state {
	TRACER_STARTING, /* programs are being loaded */
	TRACER_LOADED,
	TRACER_READY, /* every process of the agent will be seen */
	TRACER_ENDED, /* after its last record */
	TRACER_FAILED,
};

/* What the caller is to do with its container. */
enum tracer_wish {
	TRACER_GO_ON,
	TRACER_TERM, /* it has been asked to end, and this is how */
	TRACER_KILL, /* nobody listens to it any more */
};

struct tracer {
	enum tracer_state state;
	struct tracee *tracee; /* NULL: it is membrane-watch */
	struct watch watch;    /* of that; else zero */
	int64_t agent_ms;      /* since when the agent runs; 0: not yet */
	int64_t end_ms;	       /* asked to end; 0: not */
	bool was_signalled;
	struct err why;	  /* of FAILED */
	bool required;	  /* the plan's word */
	/* The agent's processes are in its namespace, and end with it: natively,
	 * where the kernel asks it. */
	bool holds_agent;
	pid_t pid;	  /* of its docker command; 0 once that has ended */
	int in, out, err; /* -1 once closed */
	bool told;	  /* the agent's namespaces */
	const char *own;  /* where it has the workspace, too; or NULL */
	struct tracefile file;
	size_t line_n;
	char line[TRACER_LINE_MAX];
};

/* Nothing is open; for one that may never be started. *t is zeroed by the
 * caller, here and for tracer_start(). */
void tracer_init(struct tracer *t);
/*
 * json: trace.json of the plan. dir: where the files go; borrowed. The
 * tracer's own failing is no error: see state.
 *   -EPROTO  not a trace.json
 */
must_check int tracer_start(struct arena *a, struct tracer *t, struct engine *e,
			    char *const *argv, struct str json, const char *dir,
			    const char *session, int keep_fd, struct err *err);
/* Does that trace.json say that no session is without a trace? */
bool tracer_is_required(struct str json);
/*
 * What the tracer's image says of itself, "Tracee version: v0.24.1", against
 * trace.json.
 *   -EPROTO  another release, or none
 */
must_check int tracer_check_release(struct str json, const char *said,
				    struct err *err);
/*
 * Whose processes: once, as soon as it has loaded its programs. host: the
 * agent's host name, where its network namespace is not known before.
 */
void tracer_tell(struct tracer *t, uint32_t netns, uint32_t pidns,
		 const char *host);
/*
 * What the gate's resolver has told the agent: a line of the gate's, with its
 * LF. The tracer may be slow: what it does not take at once is left out, and
 * counted as lost.
 */
void tracer_answer(struct tracer *t, struct str line);
/*
 * Whose something was that a decision is about, of the gate's or the view's: the
 * answer comes by watch.on_whose, soon. False: nobody will say.
 */
must_check bool tracer_ask(struct tracer *t, uint32_t id,
			   const cJSON *decision);
/* Events that are not in the trace, for whatever reason. */
uint64_t tracer_lost(const struct tracer *t);
/* Take what there is to read; never blocks. */
void tracer_pump(struct tracer *t);
/*
 * It has said all, and all of it is in the files: its container may still be
 * there. False for Tracee, whose end is that of its docker command.
 */
bool tracer_is_done(const struct tracer *t);
/* Its docker command has ended. */
void tracer_ended(struct tracer *t, int status);
/* Ask it to write what is left, and to end. */
void tracer_end(struct tracer *t, int64_t now_ms);
/* The agent's container: whose records are kept. */
bool tracer_wants_agent(const struct tracer *t);
void tracer_agent(struct tracer *t, const char *id);
/* It runs: from now on there is something to record. */
void tracer_agent_runs(struct tracer *t, int64_t now_ms);
/* What waits for its time; each wish is said once. */
enum tracer_wish tracer_tick(struct tracer *t, int64_t now_ms);
/* When tracer_tick() has to be called at the latest; -1: whenever. */
int tracer_wait_ms(const struct tracer *t);
/* What the trace lacks, in a line for people; "" when it is whole. */
struct str tracer_lacks(struct arena *a, const struct tracer *t);
/* What it counted, and why it failed, can be asked for afterwards. */
void tracer_done(struct tracer *t);

#endif
