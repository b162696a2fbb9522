/*
 * `allow` and `deny`: another policy for a session that runs.
 *
 * What would run is compiled from the policy.json of the plan that the session
 * began with, and the changes made since with the new one behind them, by the
 * one compiler: whatever binds a policy's layers binds these. It is compared
 * with what runs, shown, asked for, and handed to the session's launcher
 * (runtime/launch/control.h).
 */
#ifndef COMPILER_CLI_AMEND_AMEND_H
#define COMPILER_CLI_AMEND_AMEND_H

#include "compiler/cli/explain/explain_hunks.h"
#include "compiler/cli/review/changes.h"
#include "compiler/cli/review/derived.h"
#include "compiler/cli/workspace/inputs.h"
#include "runtime/launch/ask.h"
#include "runtime/launch/session/metadata.h"
#include "runtime/launch/session/change_log.h"

#define AMEND_JSON_VERSION 1

/* --save: what the workspace's own policy becomes. */
struct amend_save {
	bool wanted;
	struct inputs in; /* of the session's workspace */
	struct compilation old, now;
	struct changes diff;
	struct str file, before, after; /* file: as users know it */
	const char *path;
	bool is_new;
	explain_hunks hunks;
	/* Every thing that the workspace added before was approved. */
	bool was_trusted;
	bool done;
};

struct amend {
	struct arena *a;
	const struct options *o;
	bool allow; /* else a denial */
	struct str dest;
	bool is_agreed; /* nobody needs to be asked, and */
	bool is_shown;	/* has seen what changes */
	bool json;
	const char *state;
	struct metadata about; /* found, where it is not set */
	/* The session as it is: read anew when it was changed meanwhile. */
	change_log_list done;
	uint32_t generation;
	struct plan base, running;
	struct derived old, now; /* .c released with driver_done() */
	struct changes diff;
	/* Nothing changes in the session: it has been saved only, or why. */
	bool is_idle;
	struct ask_answer answer;
	struct amend_save save;
};

/* amend.c: all of it, from the session to the last word. The exit status. */
must_check int amend_run(struct amend *x);
/* Whatever is not only more, or only no longer asked about: open connections
 * may be part of it. */
bool amend_cuts(const struct amend *x);

/* amend_plan.c: what runs, what would run, and whether it may. All of them
 * STATUS_OK, or the exit status after everything has been said. */
must_check int amend_find(struct amend *x);
must_check int amend_compile(struct amend *x);
void amend_release(struct amend *x);

/* amend_save.c */
must_check int amend_save_prepare(struct amend *x);
/* After the change is in force, or where there is none to make. */
must_check int amend_save_write(struct amend *x);
void amend_save_release(struct amend *x);

/* amend_view.c; all: of view_more_by(). */
void amend_view(const struct view *v, const struct amend *x, const char *all);
struct str amend_json(const struct amend *x);

#endif
