/*
 * Exceptions from warnings: which of them hold, what they hide, and which are
 * over or hide nothing.
 *
 * The only place that knows what day it is, and it comes from the caller: a
 * date changes what is printed and never what is compiled.
 *
 * Whose word counts for what: the global file's and the command line's for
 * every warning; the workspace's for what the workspace's own files say, and
 * for a file of the workspace where it names the file; that of a preset, or of
 * a file that another one extends, for what stands in that same file. So no
 * workspace hides a warning about a rule of its user's.
 */
#ifndef COMPILER_LINT_WAIVE_H
#define COMPILER_LINT_WAIVE_H

#include "compiler/ir/doc.h"

struct waived {
	struct diag_view view; /* what was hidden */
	const struct ir_waiver *waiver;
};
typedef VEC(struct waived) waived_list;

/*
 * Take the warnings that p has exceptions for out of c->diags, into *out, in
 * the order of their places; then warn of exceptions that are over or hid
 * nothing. One of the global file may be there for another workspace, and is
 * never called unused; nor is one that names a destination which stands in
 * another file as well; nor one from what only a look at the workspace finds
 * where nobody looked.
 *
 * today   base/date.h
 * looked  for all that lint/workspace.h finds
 */
void waive_warnings(struct pass_ctx *c, const struct ir_policy *p,
		    uint32_t today, bool looked, waived_list *out);

#endif
