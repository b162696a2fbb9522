/*
 * All canonical paths of requests, in classes: two of a class lie under the
 * same of the prefixes that were added. doc/semantics.md, section 2.
 */
#ifndef COMPILER_ALGEBRA_SPACE_PATHS_H
#define COMPILER_ALGEBRA_SPACE_PATHS_H

#include "compiler/base/arena.h"

struct paths;

struct paths *paths_new(struct arena *a);
/*
 * prefix: without a '/' at its end, so that the root is empty. decoded: as
 * denials compare, which no other spelling evades. id is the caller's.
 */
void paths_add(struct paths *p, struct str prefix, bool decoded, uint32_t id);

struct paths_class {
	struct str path;
	const uint32_t *ids; /* in no order; gone after the visit */
	uint32_t n;
};
typedef void (*paths_visit)(void *ctx, const struct paths_class *c);
/* Visit one path of each class, the root first. */
void paths_each(struct paths *p, paths_visit visit, void *ctx);

#endif
