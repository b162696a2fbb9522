/*
 * A session that is over, or a file of one: its decisions, its trace and the
 * policy that it ran under, read once for all who tell of it.
 */
#ifndef COMPILER_CLI_TRACES_PAST_H
#define COMPILER_CLI_TRACES_PAST_H

#include "compiler/cli/account/abouts.h"
#include "compiler/cli/account/activity.h"
#include "compiler/cli/frame/options.h"
#include "compiler/cli/review/operand.h"
#include "compiler/cli/traces/trace_losses.h"
#include "compiler/cli/traces/traces.h"
#include "runtime/launch/session/metadata.h"

struct past {
	struct arena *a;
	/* Whom it is to be told besides, as it is read; or NULL. Decisions come
	 * before the trace. */
	activity_observer *on_decision;
	trace_visit *on_event;
	void *ctx;
	/* A session alone: its folder is enough, without a trace, and what is
	 * damaged is read around. */
	bool is_session;
	/* Filled before decisions are told of; NULL: nobody asks for it. */
	struct abouts *abouts;
	bool is_unlisted; /* deeds.v is not wanted: it can be large */
	bool many; /* what may be a folder of records of many sessions */
	/* What was found. */
	struct str id;	      /* empty: a file of somewhere else */
	struct str label;     /* cleaned */
	struct operand under; /* what it ran under, when has_policy */
	bool has_policy;
	struct decide_files *files;
	struct metadata about;
	struct activity deeds;
	trace_paths paths; /* of its trace; none: there is none */
	struct err damage; /* is_session: of records and trace; code 0 */
	struct trace_losses losses;
};

/*
 * a, and what is wanted, are set. what: a session or a file, as traces_find()
 * takes it. The exit status, after everything has been said; past_done() in
 * any case.
 */
must_check int past_load(struct past *p, const struct options *o,
			 const char *state, struct str what);
void past_done(struct past *p);
/* The path of a file in the session's folder. */
const char *past_file(const struct past *p, const char *state,
		      const char *name);

#endif
