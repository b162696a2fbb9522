/*
 * A set of connections, requests or questions in words, as people write grants.
 */
#ifndef COMPILER_ALGEBRA_COMPARE_ACCESS_TEXT_H
#define COMPILER_ALGEBRA_COMPARE_ACCESS_TEXT_H

#include "compiler/algebra/compare/compare.h"

/* The set is brought into order on the way: ports merged, paths sorted, those
 * below others left out. */
struct str access_text(struct arena *a, struct access_change *c);

#endif
