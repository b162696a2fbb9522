/*
 * Files that a launch reads for the policy, out of the agent's reach.
 *
 * A policy is approved with the paths in it, not with what is in the files.
 * What the agent can write (the workspace and its homes) must therefore not
 * decide, in a later session, how tight the sandbox is, nor by a link which of
 * the host's files is read and sent out as a credential.
 */
#ifndef COMPILER_CLI_WORKSPACE_OUTSIDE_H
#define COMPILER_CLI_WORKSPACE_OUTSIDE_H

#include "compiler/cli/workspace/inputs.h"
#include "compiler/ir/doc.h"
#include "compiler/ir/visible.h"

struct outside_places {
	const char *workspace; /* real paths; */
	const char *agent;     /* the home of all sessions; need not exist */
	const char *state;     /* membrane's own folder */
	const char *homes;     /* those of workspaces are in it; likewise */
	const char *home;      /* the user's, for "~/"; may be NULL */
};

/* Of inputs_find(), and this process's HOME. */
struct outside_places outside_places_of(struct arena *a,
					const struct inputs *in);

/* Looks at the host's files. An error per path; false when there is one. */
must_check bool outside_check(struct pass_ctx *c, const struct ir_policy *p,
			      const struct outside_places *at);
/* Why a path cannot be visible, as it lies now; NULL: it can, or is not there.
 */
const char *outside_visible_fault(struct arena *a, const struct ir_visible *v,
				  const struct outside_places *at);

#endif
