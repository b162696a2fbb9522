/*
 * Where a command finds what it works on: the workspace, ~/.membrane, the
 * presets; and the compile that plan, compile, check and run begin with.
 */
#ifndef COMPILER_CLI_WORKSPACE_INPUTS_H
#define COMPILER_CLI_WORKSPACE_INPUTS_H

#include "compiler/cli/frame/options.h"
#include "compiler/driver.h"

struct inputs {
	struct front_input front;
	const char *workspace; /* absolute, links followed */
	const char *state;     /* absolute; may not exist */
	const char *config;    /* the global file, in state */
	const char *standard;  /* policies/default.yaml */
	bool first_use;	       /* config is wanted and does not exist */
	/* Links on the way to the workspace, empty for none: reached.h */
	struct str link, agents_link;
};

/*
 * From flags, MEMBRANE_HOME and MEMBRANE_POLICIES. Nothing is written, but for
 * a policy that was left half written: saving_recover(). On the first use, what
 * would become the global file is read in its place.
 */
must_check int inputs_find(struct arena *a, const struct options *o,
			   struct inputs *out, struct err *err);
/* Of another workspace than inputs_find() has found: saving_recover(), said. */
must_check int inputs_recover(struct arena *a, const char *state,
			      const char *workspace, struct err *err);
/*
 * Find and compile. STATUS_OK: c->ok holds, unless c->stop_after was set.
 * Otherwise everything has been said: STATUS_REFUSED or STATUS_IO, STATUS_USAGE
 * for a SOURCE_DATE_EPOCH that is no number. Warnings are printed unless quiet,
 * but for those that the policy has exceptions from: c->waived.
 * driver_done(c) is the caller's in any case.
 */
must_check int inputs_compile(struct arena *a, const struct options *o,
			      bool quiet, struct inputs *in,
			      struct compilation *c);
/*
 * --deny-warnings, and there are some: said, with the warnings themselves when
 * inputs_compile() was quiet about them.
 */
must_check bool inputs_denied(const struct options *o, struct compilation *c,
			      bool quiet);
/*
 * Whether the workspace is apart from membrane's own folder, neither above it
 * nor in it; says so if not.
 * An agent that can write that folder writes the next policy, and approves it.
 * The read-only patterns would hold that off, but they are a policy's.
 */
must_check bool inputs_apart(struct arena *a, const struct inputs *in);
/* ~/.membrane, or MEMBRANE_HOME; absolute. PATH is what programs.h makes of it
 * from here on. */
must_check int inputs_state(struct arena *a, const char **out, struct err *err);

/* All of stdin, max bytes at most. False: said. */
must_check bool inputs_stdin(struct arena *a, size_t max, struct str *out);

#endif
