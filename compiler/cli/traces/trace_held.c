#include "compiler/cli/traces/trace_held.h"

#include <stdlib.h>
#include <string.h>

void kept_set(struct kept *k, struct str s)
{
	if (s.n > k->room) {
		k->room = 2 * s.n;
		k->p = realloc(k->p, k->room);
		if (!k->p)
			abort();
	}
	if (s.n)
		memcpy(k->p, s.p, s.n);
	k->n = s.n;
}

struct str kept_str(const struct kept *k)
{
	return (struct str){k->p, k->n};
}

void kept_done(struct kept *k)
{
	free(k->p);
	*k = (struct kept){0};
}

void held_init(struct held *h)
{
	*h = (struct held){0};
	for (unsigned i = 0; i < HELD_LINES; i++)
		h->order[i] = &h->line[i];
}

void held_done(struct held *h)
{
	for (unsigned i = 0; i < HELD_LINES; i++) {
		kept_done(&h->line[i].comm);
		kept_done(&h->line[i].text);
		kept_done(&h->line[i].folder);
	}
}

bool held_must_yield(const struct held *h, uint64_t at_ns)
{
	return h->n == HELD_LINES ||
	       (h->n &&
		at_ns + HELD_LATE_S * 1000000000u < h->order[h->n - 1]->at_ns);
}

struct told *held_add(struct held *h, uint64_t at_ns)
{
	struct told *t = h->order[h->n];
	unsigned i = h->n++;

	for (; i && h->order[i - 1]->at_ns > at_ns; i--)
		h->order[i] = h->order[i - 1];
	h->order[i] = t;
	t->at_ns = at_ns;
	return t;
}

const struct told *held_take(struct held *h)
{
	struct told *t = h->order[0];

	if (h->n == 0)
		return NULL;
	h->n--;
	memmove(h->order, h->order + 1, h->n * sizeof(h->order[0]));
	h->order[h->n] = t;
	return t;
}
