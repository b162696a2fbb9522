#include "compiler/base/near.h"

bool near_offer(struct near *n, const char *name)
{
	unsigned d = str_distance(n->word, str_of(name), n->below);

	if (d >= n->below)
		return false;
	n->below = d;
	n->name = name;
	return true;
}
