/*
 * What a session did, as requests that a policy can be asked about: each once,
 * counted, and with what became of it then. Out of the decisions of the gate
 * and of the view and the trace, whichever there is; of the trace's connections
 * and files those are not told again that they have told of.
 */
#ifndef COMPILER_CLI_ACCOUNT_ACTIVITY_H
#define COMPILER_CLI_ACCOUNT_ACTIVITY_H

#include "compiler/algebra/decide/decide.h"
#include "compiler/base/err.h"
#include "compiler/trace/event.h"
#include "runtime/launch/session/summary.h"
#include "runtime/launch/view/refusals.h"

#include <cjson/cJSON.h>

#define ACTIVITY_MAX 65536u /* different ones */

enum act_then {
	ACT_ALLOWED,
	ACT_REFUSED,
	ACT_UNKNOWN, /* done, as far as the trace can tell */
};

struct act {
	struct ir_request r;
	struct str text; /* of r: ir_request_text() */
	enum act_then then;
	enum reason reason; /* ACT_REFUSED: why */
	uint64_t n;
	/* Of n, connections that nothing looked into. */
	uint64_t unseen;
	bool answered; /* a person permitted it while the session ran */
	uint32_t order; /* in which it was first seen, from 1 */
};

/* Told of each record of a session, after it was taken. */
typedef void activity_observer(void *ctx, const cJSON *record);

struct activity_index;
struct activity {
	struct arena *a;
	activity_observer *observe; /* or NULL */
	void *observe_ctx;
	VEC(struct act) v;
	bool is_unlisted;   /* nobody wants v: it stays empty */
	uint64_t beyond;    /* that found no room */
	uint64_t decisions; /* records read */
	bool has_decisions;
	struct summary *refused; /* as 'run' tells it */
	struct refusals *paths;	 /* likewise, of files */
	VEC(struct str) mounted; /* where the workspace is inside */
	struct activity_index *index;
};

void activity_init(struct activity *d, struct arena *a);
/* The workspace is at path inside, without a slash at its end; before events.
 * Of files elsewhere no policy says anything. */
void activity_mounted(struct activity *d, const char *path);
/*
 * The records of one session, whose folder that is, and in it "plan": before
 * its trace. A line that is no decision is passed over. -ENOENT and so on when
 * they cannot be read.
 */
must_check int activity_decisions(struct activity *d, const char *dir,
				  struct err *err);
/* One line of the records of any session: many of them may come to one list. */
void activity_record(struct activity *d, struct str line);
/*
 * One event of the trace. p and files: what the session ran under, to tell
 * what became of it; NULL when that is not known.
 */
void activity_event(struct activity *d, const struct trace_event *e,
		    const struct ir_policy *p,
		    const struct decide_files *files);
/* "a/b" for a path inside that is the workspace's; else empty. */
struct str activity_path(const struct activity *d, struct str path);
/* In the order of their text, those that are about the network first. */
void activity_sort(struct activity *d);

/* Whom it is about: the name, or the address; empty for files. */
struct str act_who(struct arena *a, const struct act *d);

#endif
