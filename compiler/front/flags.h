/*
 * The command line as a source named "<command line>", so that a diagnostic
 * can point into it.
 */
#ifndef COMPILER_FRONT_FLAGS_H
#define COMPILER_FRONT_FLAGS_H

#include "compiler/front/front.h"

/* *out is the document of the flags layer. False after reporting. */
must_check bool flags_bind(struct pass_ctx *c, struct sources *sources,
			   const struct front_input *in, struct doc *out);

#endif
