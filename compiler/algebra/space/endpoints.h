/*
 * Where connections can go, in classes: names, and addresses. Two spots are
 * alike when connections to them are decided alike, and requests where that is
 * asked for, whatever they are combined with; of each kind one is enough to ask
 * about a name and an address together.
 */
#ifndef COMPILER_ALGEBRA_SPACE_ENDPOINTS_H
#define COMPILER_ALGEBRA_SPACE_ENDPOINTS_H

#include "compiler/algebra/space/cells.h"

struct spot {
	struct target to;
	uint32_t *ids; /* rules that speak of it, '*' among them, sorted */
	uint32_t n;
	uint32_t *key; /* two are alike when their keys are */
	uint32_t n_key;
	enum addr_scope scope; /* of addresses */
	uint32_t kind; /* set by spots_sort(): the same for those alike */
	bool wanted;   /* it lies in the set that was asked for */
};
typedef VEC(struct spot) spot_list;

/* All names and all addresses that the rules tell apart. */
struct spots {
	spot_list names, addrs;
	bool complete; /* else too many names: some were left out */
};

/*
 * only      a destination that counts as a rule, for spot.wanted; or NULL
 * requests  what is alike to connections and not to requests is of two kinds
 */
void spots_find(struct sides *s, const struct ir_dest *only, bool requests,
		struct spots *out);
/* As strcmp(): of two names, or of two addresses. */
int spots_by_place(const struct spot *a, const struct spot *b);
/* In groups of those alike, in place; the number of kinds. */
uint32_t spots_sort(spot_list *list);
/* The rules that speak of either, sorted, in the scratch arena. */
uint32_t *spots_rules(struct sides *s, const struct spot *name,
		      const struct spot *addr, uint32_t *out_n);

#endif
