#include "compiler/trace/count.h"

#include "compiler/base/hash.h"

#include <stdlib.h>

struct count *count_new(struct arena *a)
{
	struct count *c = arena_new_of(a, struct count);

	c->a = a;
	return c;
}

void count_add(struct count *c, struct str text)
{
	struct count_entry *e;
	uint32_t i;

	text = str_slice(text, 0, COUNT_TEXT_MAX);
	i = hash_str(text) % ARRAY_LEN(c->slot);
	c->total++;
	for (;; i = (i + 1) % ARRAY_LEN(c->slot)) {
		e = &c->slot[i];
		if (e->n == 0 || str_eq(e->text, text))
			break;
	}
	if (e->n == 0) {
		if (c->used == COUNT_MAX) {
			c->others++;
			return;
		}
		c->used++;
		e->text = arena_str(c->a, text);
	}
	e->n++;
}

static int most_first(const void *va, const void *vb)
{
	const struct count_entry *a = va, *b = vb;

	if (a->n != b->n)
		return a->n < b->n ? 1 : -1;
	return str_cmp(a->text, b->text);
}

uint32_t count_top(const struct count *c, uint32_t n, struct count_entry **out)
{
	struct count_entry *all =
		arena_alloc(c->a, (c->used + 1) * sizeof(*all));
	uint32_t k = 0;

	for (uint32_t i = 0; i < ARRAY_LEN(c->slot); i++)
		if (c->slot[i].n)
			all[k++] = c->slot[i];
	qsort(all, k, sizeof(*all), most_first);
	*out = all;
	return k < n ? k : n;
}
