/*
 * The pipeline: sources in, sealed plan out. One screen.
 */
#ifndef COMPILER_DRIVER_H
#define COMPILER_DRIVER_H

#include "compiler/base/diag.h"
#include "compiler/base/err.h"
#include "compiler/emit/marks.h"
#include "compiler/front/front.h"
#include "compiler/lint/lint.h"
#include "compiler/lint/waive.h"
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
	lint_waived_list waived;  /* driver_settle() */
	third_party_hits reached; /* places where others can read */
	/* Set it for what reports a broken `never` of the global file itself:
	 * there is a plan all the same. */
	bool unbound;
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
 * above to be set. c->ok says whether c->plan may be used; c->diags holds what there is to say either way.
 * A negative return is a file that cannot be read (exit 3), with *err.
 */
must_check int driver_compile(struct compilation *c,
			      const struct front_input *in, struct err *err);
/*
 * Apply the policy's exceptions from warnings, as of a day (base/date.h). Once,
 * when c->ok and all warnings are there: before they are printed.
 */
void driver_settle(struct compilation *c, uint32_t today);
void driver_done(struct compilation *c);

/* The names of the passes, in order; NULL at the end. */
const char *driver_pass(size_t i);
/* For passes that a command runs by itself, into c->diags. */
struct pass_ctx driver_ctx(struct compilation *c);

#endif
