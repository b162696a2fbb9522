/*
 * What the native engine alone can do. Where a policy leaves the engine open,
 * one who asks for such a thing has named it.
 */
#ifndef COMPILER_IR_NATIVELY_H
#define COMPILER_IR_NATIVELY_H

#include "compiler/ir/ir.h"

struct natively {
	struct ir_origin from;
	const char *what;    /* "a root of your own" */
	const char *instead; /* what Docker could run in its place */
};

/* The things of that kind that it asks for, in a fixed order; false at the end.
 * out may be NULL. */
bool natively_alone(const struct ir_policy *p, size_t i, struct natively *out);
/* Does no other engine run it: 'engine' says so, or is left open beside one? */
bool natively_runs(const struct ir_policy *p);

#endif
