/*
 * All addresses there are, in intervals: two addresses of one lie in the same
 * of the networks that were added.
 */
#ifndef COMPILER_ALGEBRA_SPACE_NETS_H
#define COMPILER_ALGEBRA_SPACE_NETS_H

#include "compiler/base/addr.h"
#include "compiler/base/arena.h"

struct nets;

/* What addr_scope() tells apart is cut as well. */
struct nets *nets_new(struct arena *a);
/* id is the caller's and not looked at. */
void nets_add(struct nets *n, const struct cidr *net, uint32_t id);

struct nets_class {
	struct addr first, last;
	struct addr shown;     /* one of them that a host could have */
	enum addr_scope scope; /* of all of them */
	const uint32_t *ids;   /* in no order; gone after the visit */
	uint32_t n;
};
typedef void (*nets_visit)(void *ctx, const struct nets_class *c);
/* Visit each interval once, IPv4 first, in their order. */
void nets_each(struct nets *n, nets_visit visit, void *ctx);

#endif
