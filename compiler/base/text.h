/*
 * A string of the user's and where each byte of it was written.
 *
 * YAML can spell a value in ways that do not show it byte for byte (escapes,
 * folding); then only the whole of it can be underlined.
 */
#ifndef COMPILER_BASE_TEXT_H
#define COMPILER_BASE_TEXT_H

#include "compiler/base/source.h"

struct text {
	struct str s;
	struct span at;	   /* all of it, quotes included */
	uint32_t verbatim; /* where s.p[0] stands in the source; 0: nowhere */
};

/* The place of bytes beg up to end of t->s. */
static inline struct span text_at(const struct text *t, struct span part)
{
	if (!t->verbatim)
		return t->at;
	return (struct span){t->verbatim + part.beg, t->verbatim + part.end};
}

#endif
