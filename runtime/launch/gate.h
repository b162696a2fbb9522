/*
 * The gate as the launcher sees it: a docker command with three pipes.
 *
 * One JSON line in, then stdin stays open: its end is the gate's end. Out come
 * JSON lines: ready once, decisions, errors, done behind the last of them;
 * where something is decrypted, the roots that the gate trusts before ready and
 * the session's CA with it, which become ca.pem and bundle.pem; anything else
 * is a gate that cannot be trusted. What it writes to stderr is kept in
 * gate.log.
 */
#ifndef RUNTIME_LAUNCH_GATE_H
#define RUNTIME_LAUNCH_GATE_H

#include "runtime/launch/engine/engine.h"
#include "runtime/launch/session/decisions.h"
#include "runtime/launch/session/says.h"
#include "runtime/launch/session/summary.h"
#include "runtime/launch/tracer/tracer.h"

#include <sys/types.h>

#define GATE_LINE_MAX	65536u
#define GATE_WORDS_MAX	256u
#define GATE_LOG_MAX	(4u << 20) /* bytes of gate.log */
#define GATE_BUNDLE_MAX (8u << 20) /* bytes of bundle.pem */

struct gate {
	pid_t pid; /* of its docker command; 0 once that has ended */
	int status;
	int in, out, err;	    /* -1 once closed */
	struct decisions decisions; /* its copy is --trace-log's */
	uint64_t lost; /* of its lines, as it says */
	int log;
	const char *dir; /* of the session; borrowed */
	int bundle;	 /* the roots that the agent gets; -1: none yet */
	size_t bundle_bytes;
	struct str roots; /* beside the system's: roots.h; borrowed */
	bool ready;
	bool ipv6; /* its uplink has it; known when ready */
	/* Inodes of namespaces, for a tracer: of the agent's network, and of
	 * the gate's own processes; 0: unknown. */
	uint32_t netns, pidns;
	double ready_ms; /* of its own time, as it says */
	struct summary *summary;
	struct tracer *tracer; /* hears of DNS answers; NULL: nobody does */
	struct says says;
	size_t log_bytes;
	/* Called when the gate says what became of another plan; or NULL. */
	void (*on_generation)(void *ctx, uint32_t number, bool ok,
			      const char *message);
	void *ctx;
	/* Called with the first refusal of its kind, at once; or NULL. */
	void (*on_refusal)(void *ctx, const struct refusal *r);
	void *refusal_ctx;
	/* Called when the agent asks for new tokens; or NULL. */
	int (*on_renewal)(void *ctx, const cJSON *event, struct err *err);
	void *renewal_ctx;
	/* Called with QUESTION_EVENT and ANSWERED_EVENT; or NULL. */
	int (*on_question)(void *ctx, const char *name, const cJSON *event,
			   struct str line, struct err *err);
	void *question_ctx;
};

/* Nothing is open; *g is zeroed by the caller. What it decides is counted in
 * summary, borrowed. */
void gate_init(struct gate *g, struct summary *summary);
/* Its records in dir, the session's: part of gate_start(). */
must_check int gate_record(struct gate *g, const char *dir, struct err *err);
/* Some of what it says on stdout, that came another way than by g->out. */
must_check int gate_take(struct gate *g, struct str text, struct err *err);
/* The same of stderr: a line without its LF. */
void gate_take_words(struct gate *g, struct str line);
/* Start it; hello goes to its stdin. */
must_check int gate_start(struct gate *g, struct engine *e, char *const *argv,
			  const char *dir, int keep_fd, struct err *err);
must_check int gate_hello(struct gate *g, struct str hello, struct err *err);
/* Its plan is another one now: what comes of it is said by on_generation. */
must_check int gate_change(struct gate *g, uint32_t number, bool cut,
			   struct err *err);
/* A line on its stdin, with its LF. */
must_check int gate_say(struct gate *g, struct str line, struct err *err);
/* A line of ours, with its LF, between its decisions. */
must_check int gate_note(struct gate *g, struct str line, struct err *err);
/*
 * Take what there is to read; never blocks.
 *   -EPROTO  something that is not the protocol: the session must end
 */
must_check int gate_pump(struct gate *g, struct err *err);
/* Ask it to end. */
void gate_close_stdin(struct gate *g);
void gate_done(struct gate *g);
/* What it said last, for people; never NULL. */
const char *gate_last_words(const struct gate *g);

#endif
