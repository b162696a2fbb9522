/*
 * Where connections can go, in classes: names, and addresses. Two endpoints are
 * alike when connections to them are decided alike, and requests where that is
 * asked for, whatever they are combined with; of each kind one is enough to ask
 * about a name and an address together.
 */
#ifndef COMPILER_ALGEBRA_SPACE_ENDPOINTS_H
#define COMPILER_ALGEBRA_SPACE_ENDPOINTS_H

#include "compiler/algebra/space/cells.h"

struct endpoint {
	struct target to;
	uint32_t *ids; /* rules that speak of it, '*' among them, sorted */
	uint32_t n;
	uint32_t *key; /* two are alike when their keys are */
	uint32_t n_key;
	enum addr_scope scope; /* of addresses */
	uint32_t kind; /* set by endpoints_sort(): the same for those alike */
	bool wanted;   /* it lies in the set that was asked for */
};
typedef VEC(struct endpoint) endpoint_list;

/* All names and all addresses that the rules tell apart. */
struct endpoints {
	endpoint_list names, addrs;
	bool complete; /* else too many names: some were left out */
};

/*
 * only      a destination that counts as a rule, for endpoint.wanted; or NULL
 * requests  what is alike to connections and not to requests is of two kinds
 */
void endpoints_find(struct sides *s, const struct ir_dest *only, bool requests,
		    struct endpoints *out);
/* As strcmp(): of two names, or of two addresses. */
int endpoints_by_place(const struct endpoint *a, const struct endpoint *b);
/* In groups of those alike, in place; the number of kinds. */
uint32_t endpoints_sort(endpoint_list *list);
/* The rules that speak of either, sorted, in the scratch arena. */
uint32_t *endpoints_rules(struct sides *s, const struct endpoint *name,
			  const struct endpoint *addr, uint32_t *out_n);

#endif
