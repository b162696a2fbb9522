/*
 * The repository that a workspace is a worktree or a folder of
 * (workspace/gitlinked.h): whether a session may have it.
 *
 * It is an addition of the workspace's, and approved as one, by itself: a
 * folder that the user made, and yet one that a file in the workspace names, or
 * that holds more than the user gave. It
 * is asked about once; who says no is not asked again. Nobody to ask is no
 * reason not to run: git then sees no repository, as before.
 */
#ifndef COMPILER_CLI_TRUST_TRUST_LINKED_H
#define COMPILER_CLI_TRUST_TRUST_LINKED_H

#include "compiler/cli/trust/trust_ask.h"
#include "runtime/launch/workspace/gitlinked.h"

struct trust_linked {
	struct gitlinked git;
	struct contribution adds; /* nothing where there is none */
	enum trust_state state;
	bool declined;	/* somebody said no to it */
	struct err err; /* TRUST_UNKNOWN: why */
};

/* As the workspace is now. c is ok. */
void trust_linked_find(struct compilation *c, const struct inputs *in,
		       struct trust_linked *out);
/* What a session would get of it, for people. */
void trust_linked_view(const struct view *v, const struct gitlinked *g);
/* Show it at the terminal, and ask. */
bool trust_linked_ask(int tty, struct compilation *c, const struct inputs *in,
		      const struct trust_linked *t);
/* Remember what was said. */
must_check int trust_linked_keep(struct compilation *c, const struct inputs *in,
				 const struct trust_linked *t, bool yes,
				 struct err *err);

#endif
