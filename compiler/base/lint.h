/*
 * The warnings by name: lint.def as a table.
 *
 * An exception in a policy (`allow_lint`) takes the name, help explains it,
 * and each printed warning ends with it: [W904 any-grant].
 */
#ifndef COMPILER_BASE_LINT_H
#define COMPILER_BASE_LINT_H

#include "compiler/base/diag.h"

struct lint {
	enum diag_id id;
	const char *name;   /* "any-grant" */
	const char *about;  /* "a grant of everything" */
	const char *remedy; /* what to do, in sentences */
};

/* In the order of their numbers; NULL at the end. */
const struct lint *lint_at(size_t i);
/* NULL for what is no warning. */
const struct lint *lint_of(enum diag_id id);
const struct lint *lint_named(struct str name);
/* The name nearest to a misspelt one, or NULL when none is near. */
const struct lint *lint_near(struct str name);

#endif
