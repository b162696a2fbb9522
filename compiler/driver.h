/*
 * The pipeline: sources in, sealed plan out. One screen.
 */
#ifndef COMPILER_DRIVER_H
#define COMPILER_DRIVER_H

#include "compiler/base/diag.h"
#include "compiler/base/err.h"
#include "compiler/emit/emit.h"
#include "compiler/emit/marks.h"
#include "compiler/front/front.h"
#include "compiler/lint/lint.h"
#include "compiler/lint/waive.h"
#include "compiler/lint/workspace.h"
#include "compiler/passes/passes.h"
#include "compiler/plan/plan.h"

struct compilation {
	struct arena *a;
	struct sources sources;
	struct diags diags;
	docs docs;
	struct ir_policy policy; /* IR_NORMALISED when ok */
	struct plan plan;	 /* filled when ok */
	bool ok;
	/* Set mark_lines before driver_compile(): marks then says where the
	 * artefacts' lines came from. */
	bool mark_lines;
	struct marks marks;
	third_party_hits reached; /* places where others can read */
	/* What driver_lint() found, beside the warnings in diags. */
	waived_list waived; /* warnings with an exception */
	const bool *denied; /* per grant: denials make it void */
	bool unsearched;    /* not all of the workspace was looked at */
	struct workspace_counts counts; /* what patterns hold there */
	/* Set it for what reports a broken `never` of the global file itself:
	 * there is a plan all the same. */
	bool unbound;
	/* Set it where the policy is asked about and the plan is not: what no
	 * policy is refused for is left out of it. */
	bool unwritten;
	/* Set it to the provenance.json of the plan whose policy.json is
	 * compiled: origins.h. Empty: places are where things stand. */
	struct str origins;
	/* The same for comments in artefacts alone: they are those of the plan,
	 * and everything else is said of its policy.json. */
	struct str places;
	/* What Kubernetes is to get besides; NULL: it is for one machine. */
	const struct kube_options *kubernetes;
	/*
	 * For --dump-ir: one of driver_pass(); set it before driver_compile(),
	 * which then prints the policy as it is after that pass into dump and
	 * goes no further. NULL otherwise.
	 */
	const char *stop_after;
	struct str dump;
};

/*
 * Read, bind, merge, check and emit. *c is zero but for what is said
 * above to be set. c->ok says whether c->plan may be used; c->diags holds what
 * there is to say either way. A negative return is a file that cannot be read
 * (exit 3), with *err.
 */
must_check int driver_compile(struct compilation *c,
			      const struct front_input *in, struct err *err);
struct driver_look {
	uint32_t today;	       /* base/date.h: what exceptions are judged by */
	const char *workspace; /* to be looked at, or NULL */
	bool patterns; /* also for patterns that match nothing in there */
};
/*
 * Warn of what is odd in a policy that is taken, but for what it has
 * exceptions from. Once, when c->ok, and before warnings are printed; for the
 * policy that a command is about, and not for those that it compares it with.
 */
void driver_lint(struct compilation *c, const struct driver_look *look);
/* For an emitter that a command runs by itself; when c->ok, made is its plan. */
struct emit_in driver_emit(struct compilation *c);
void driver_done(struct compilation *c);

/* The names of the passes, in order; NULL at the end. */
const char *driver_pass(size_t i);
/* For passes that a command runs by itself, into c->diags. */
struct pass_ctx driver_ctx(struct compilation *c);

#endif
