/*
 * "Did you mean": of the names that are offered, the one nearest to what was
 * written.
 *
 *	struct near near = {.word = word, .below = 3};
 *
 *	for (…)
 *		near_offer(&near, names[i]);
 *	if (near.name)
 *		diag_help(d, "did you mean '%s'?", near.name);
 */
#ifndef COMPILER_BASE_NEAR_H
#define COMPILER_BASE_NEAR_H

#include "compiler/base/str.h"

#include <stdbool.h>

struct near {
	struct str word;
	unsigned below;	  /* fewer edits than that: str_distance() */
	const char *name; /* the first of the nearest, or NULL */
};

/* True when it is the nearest so far. */
bool near_offer(struct near *n, const char *name);

#endif
