/*
 * What a session's parts do on this host when they are tried.
 *
 * A trial is the beginning of a session, by the vectors of a plan: the gate
 * until its rules are in the kernel, the tracer until it has seen an event of
 * its own. No agent is started, no session's record is left, and everything
 * is ended again, within PROBE_TRY_MS and PROBE_END_MS.
 */
#ifndef RUNTIME_LAUNCH_PROBE_H
#define RUNTIME_LAUNCH_PROBE_H

#include "compiler/plan/plan.h"
#include "runtime/launch/docker/docker.h"
#include "runtime/launch/facts.h"

#define PROBE_TRY_MS 20000
#define PROBE_END_MS 10000

struct probe_part {
	enum fact works;
	const char *words; /* what it said: why it does not, or of itself */
	int64_t ms;	   /* from its start until it was ready */
};

struct probe_session {
	struct probe_part gate, tracer, haproxy;
	bool ipv6; /* the gate's uplink has it */
	/* What the tracer says of itself: "" unless it works. */
	const char *back_end, *io_uring, *missing;
};

/*
 * Try the gate, HAProxy in its image, and the tracer, of a plan. A part whose
 * image is missing is not tried: have_gate, have_tracer.
 *
 * state  where sessions are kept: made when it is missing, and then removed
 *
 * A part that does not work is no error. SIGINT and the like end it early:
 * -EINTR.
 */
must_check int probe_session(struct arena *a, struct docker *d,
			     const char *state, const struct plan *plan,
			     bool have_gate, bool have_tracer,
			     struct probe_session *out, struct err *err);

/* What is tried of the native engine: it has no image, and HAProxy is the
 * machine's. */
struct probe_gate {
	struct probe_part part;
	bool ipv6; /* as above */
};

/* The same of the gate alone, by the native engine. Before any Docker's
 * namespaces are entered. */
must_check int probe_native(struct arena *a, const char *state,
			    const struct plan *plan, struct probe_gate *out,
			    struct err *err);

/*
 * The first line that a command prints, on stdout or stderr; killed when it
 * has not ended after PROBE_END_MS.
 *   -EIO  it failed; *err is its first line
 */
must_check int probe_line(struct arena *a, char *const *argv, const char **out,
			  struct err *err);

#endif
