/*
 * compare.h, of requests of HTTP that go to an address under a name: where the
 * name leads, or where the client says it and the session did not resolve it.
 *
 * What follows from a request to the name alone, to the address alone, or from
 * a connection is left to reach.h. That is all of them but these: where a
 * denial speaks of either, where a name may lead to an address that is not
 * public, and where rules are about one scheme at an address.
 */
#ifndef COMPILER_ALGEBRA_COMPARE_FRONTING_H
#define COMPILER_ALGEBRA_COMPARE_FRONTING_H

#include "compiler/algebra/compare/access.h"
#include "compiler/algebra/space/endpoints.h"

/* False: there were too many, and not all were looked at. */
must_check bool fronts_compare(struct sides *s, struct access *x,
			       const struct spots *all);

#endif
