/*
 * The command line as a source of its own, so that a diagnostic can point into
 * it.
 */
#ifndef COMPILER_FRONT_FLAGS_H
#define COMPILER_FRONT_FLAGS_H

#include "compiler/front/front.h"

/* Flags, and the source that they become: its name, what is between two. */
struct flags_text {
	const struct front_flag *v;
	size_t n;
	enum layer layer;
	const char *name;
	char between;
};

/* *out is the document of that layer. False after reporting. */
must_check bool flags_bind(struct pass_ctx *c, struct sources *sources,
			   const struct flags_text *flags, struct doc *out);

#endif
