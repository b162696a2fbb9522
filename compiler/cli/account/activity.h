/*
 * What a session did, as requests that a policy can be asked about: each once,
 * counted, and with what became of it then. Out of the gate's decisions and
 * the trace, whichever there is; the trace's connections that the gate has
 * told of are not told again.
 */
#ifndef COMPILER_CLI_ACCOUNT_ACTIVITY_H
#define COMPILER_CLI_ACCOUNT_ACTIVITY_H

#include "compiler/algebra/decide/decide.h"
#include "compiler/base/err.h"
#include "compiler/trace/event.h"
#include "runtime/launch/session/summary.h"

#define DEEDS_MAX 65536u /* different ones */

enum deed_then {
	DEED_ALLOWED,
	DEED_REFUSED,
	DEED_UNKNOWN, /* done, as far as the trace can tell */
};

struct deed {
	struct ir_request r;
	struct str text; /* of r: ir_request_text() */
	enum deed_then then;
	enum reason reason; /* DEED_REFUSED: why */
	uint64_t n;
	/* Of n, connections that nothing looked into. */
	uint64_t unseen;
	uint32_t order; /* in which it was first seen, from 1 */
};

struct deeds_index;
struct deeds {
	struct arena *a;
	VEC(struct deed) v;
	uint64_t beyond;    /* that found no room */
	uint64_t decisions; /* records read */
	bool has_decisions;
	struct summary *refused; /* as 'run' tells it */
	struct deeds_index *index;
};

void deeds_init(struct deeds *d, struct arena *a);
/*
 * The records of one session, whose folder that is: before its trace. A line
 * that is no decision is passed over. -ENOENT and so on when they cannot be
 * read.
 */
must_check int deeds_decisions(struct deeds *d, const char *dir,
			       struct err *err);
/*
 * One event of the trace. p and files: what the session ran under, to tell
 * what became of it; NULL when that is not known.
 */
void deeds_event(struct deeds *d, const struct trace_event *e,
		 const struct ir_policy *p, const struct decide_files *files);
/* In the order of their text, those that are about the network first. */
void deeds_sort(struct deeds *d);

/* Whom it is about: the name, or the address; empty for files. */
struct str deed_who(struct arena *a, const struct deed *d);

#endif
