/*
 * Whether a workspace's contribution may run, and asking who sits there.
 * doc/semantics.md, section 7.
 */
#ifndef COMPILER_CLI_TRUST_TRUST_ASK_H
#define COMPILER_CLI_TRUST_TRUST_ASK_H

#include "compiler/cli/text/view.h"
#include "compiler/cli/trust/contribution.h"
#include "compiler/cli/trust/trust_store.h"
#include "compiler/cli/workspace/inputs.h"

enum trust_state {
	TRUST_NOTHING,	/* it adds nothing */
	TRUST_ALWAYS,	/* workspace_trust: always */
	TRUST_NEVER,	/* workspace_trust: never */
	TRUST_APPROVED, /* trust.json has it */
	TRUST_OPEN,	/* nobody has approved it */
	TRUST_UNKNOWN,	/* trust.json cannot be used: *err */
};

/*
 * trust.json is read only where it decides. Approved is what was, and what is
 * that but for denials beside it (trust_store_within()). What an earlier
 * approval had as well is marked in x->notes.
 */
enum trust_state trust_state(struct compilation *c, const struct inputs *in,
			     struct contribution *x, struct err *err);
/* Would `run` take all that the workspace adds, and ask nobody? */
must_check bool trust_holds(struct compilation *c, const struct inputs *in);

/* What it adds, and what of that it holds back, one row each with its place;
 * then trust_view_older(). */
void trust_view(const struct view *v, const struct compilation *c,
		const struct contribution *x);
/* That an approval of before no longer counts, and why; or nothing. */
void trust_view_older(const struct view *v, const struct contribution *x);
/* The one command that approves, for a shell; cleaned. */
struct str trust_command(struct arena *a, const struct options *o,
			 const char *workspace);

/*
 * Show what is added and ask, on the terminal alone. What was typed ahead is
 * no answer; only "y" and "yes" are one.
 */
must_check bool trust_ask(int tty, struct compilation *c,
			  const struct inputs *in,
			  const struct contribution *x);

#endif
