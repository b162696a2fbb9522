/*
 * What the front hands to the passes: one bound policy per source, and the
 * context in which both report. Here because neither may include the other.
 */
#ifndef COMPILER_IR_DOC_H
#define COMPILER_IR_DOC_H

#include "compiler/base/diag.h"
#include "compiler/ir/ir.h"

/* A bound source, as the front returns it. */
struct doc {
	enum layer layer;  /* a preset that the workspace extends: WORKSPACE */
	struct str source; /* its name */
	struct ir_policy policy; /* IR_BOUND */
	/* A preset of the folder of policies: what its tests allow and deny is
	 * about it alone, and no test of the policy that extends it. */
	bool preset;
};
typedef VEC(struct doc) docs;

struct pass_ctx {
	struct arena *a;
	struct sources *sources; /* layers adds "builtin" to them */
	struct diags *diags;
};

#endif
