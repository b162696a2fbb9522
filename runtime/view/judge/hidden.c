#include "runtime/view/judge/hidden.h"

#include "compiler/base/hash.h"

#include <stdlib.h>

#define FIRST_SIZE 64u

static bool is_born_known(const struct hidden_file *f)
{
	return f->born_s || f->born_ns;
}

/* Where it is, or the free place where it would be. */
static struct hidden_file *find_slot(const struct hidden *h, uint64_t dev,
				     uint64_t ino)
{
	uint64_t hash =
		hash64_bytes(hash64_bytes(HASH64_SEED, &dev, sizeof(dev)), &ino,
			     sizeof(ino));
	uint32_t i = hash64_folded(hash) & (h->size - 1);

	while (h->v[i].used && !(h->v[i].dev == dev && h->v[i].ino == ino))
		i = (i + 1) & (h->size - 1);
	return &h->v[i];
}

static bool grow_table(struct hidden *h)
{
	struct hidden to = {.n = h->n,
			    .size = h->size ? h->size * 2 : FIRST_SIZE};

	if (h->n >= HIDDEN_MAX)
		return false;
	to.v = calloc(to.size, sizeof(*to.v));
	if (!to.v)
		return false;
	for (uint32_t i = 0; i < h->size; i++)
		if (h->v[i].used)
			*find_slot(&to, h->v[i].dev, h->v[i].ino) = h->v[i];
	free(h->v);
	*h = to;
	return true;
}

void hidden_done(struct hidden *h)
{
	free(h->v);
	*h = (struct hidden){0};
}

bool hidden_add(struct hidden *h, const struct hidden_file *f)
{
	struct hidden_file *slot;

	if (h->n >= h->size / 2 && !grow_table(h))
		return false;
	slot = find_slot(h, f->dev, f->ino);
	h->n += !slot->used;
	*slot = *f;
	slot->used = true;
	return true;
}

bool hidden_has(const struct hidden *h, const struct hidden_file *f)
{
	const struct hidden_file *have;

	if (h->n == 0)
		return false;
	have = find_slot(h, f->dev, f->ino);
	if (!have->used)
		return false;
	if (!is_born_known(have) || !is_born_known(f))
		return true;
	return have->born_s == f->born_s && have->born_ns == f->born_ns;
}
