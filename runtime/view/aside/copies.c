#include "runtime/view/aside/copies.h"

#include "compiler/base/err.h"
#include "compiler/base/hash.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SIZE 256u

/* --- names ---------------------------------------------------------------- */

static uint32_t bucket_of(const struct copies *t, const struct copy *parent,
			  const char *name, size_t n)
{
	uint32_t h = hash_bytes(HASH_SEED, &parent, sizeof(parent));

	return hash_mixed(hash_bytes(h, name, n)) & (t->size - 1);
}

static struct copy *find_below(const struct copies *t,
			       const struct copy *parent, const char *name,
			       size_t n)
{
	struct copy *c = t->buckets[bucket_of(t, parent, name, n)];

	while (c && !(c->parent == parent && strncmp(c->name, name, n) == 0 &&
		      c->name[n] == '\0'))
		c = c->next;
	return c;
}

struct copy *copies_below(const struct copies *t, const struct copy *parent,
			  const char *name)
{
	return find_below(t, parent, name, strlen(name));
}

static void put_bucket(struct copies *t, struct copy *c)
{
	struct copy **b =
		&t->buckets[bucket_of(t, c->parent, c->name, strlen(c->name))];

	c->next = *b;
	*b = c;
}

static void grow_table(struct copies *t)
{
	struct copies was = *t;

	t->buckets = calloc((size_t)was.size * 2, sizeof(struct copy *));
	if (!t->buckets) {
		t->buckets = was.buckets; /* slower, and as right */
		return;
	}
	t->size = was.size * 2;
	for (uint32_t i = 0; i < was.size; i++)
		for (struct copy *c = was.buckets[i], *next; c; c = next) {
			next = c->next;
			put_bucket(t, c);
		}
	free(was.buckets);
}

/* Behind its siblings: who lists them has not come there yet. */
static void put_name(struct copies *t, struct copy *c, struct copy *parent)
{
	if (t->n >= t->size)
		grow_table(t);
	c->parent = parent;
	c->before = parent->last;
	c->after = NULL;
	if (parent->last)
		parent->last->after = c;
	else
		parent->first = c;
	parent->last = c;
	c->serial = ++t->serial;
	put_bucket(t, c);
	t->n++;
}

static void take_name(struct copies *t, struct copy *c)
{
	struct copy *p = c->parent;
	struct copy **at =
		&t->buckets[bucket_of(t, p, c->name, strlen(c->name))];

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	if (c->before)
		c->before->after = c->after;
	else
		p->first = c->after;
	if (c->after)
		c->after->before = c->before;
	else
		p->last = c->before;
	t->n--;
}

bool copies_init(struct copies *t)
{
	*t = (struct copies){.size = FIRST_SIZE};
	t->buckets = calloc(FIRST_SIZE, sizeof(struct copy *));
	return t->buckets;
}

void copies_open(struct copies *t)
{
	t->given = UINT32_MAX - COPIES_MAX;
}

void copies_bound(struct copies *t, uint32_t more)
{
	t->most = t->n + more;
	t->given = t->held;
}

bool copies_full(const struct copies *t)
{
	return t->held >= t->given + COPIES_MAX;
}

struct copy *copies_find(const struct copies *t, const char *path)
{
	const struct copy *c = &t->root;

	if (!t->root.first)
		return NULL;
	for (size_t n; c; path += n + 1) {
		n = strcspn(path, "/");
		c = find_below(t, c, path, n);
		if (!path[n])
			break;
	}
	return (struct copy *)(uintptr_t)c;
}

static struct copy *new_below(struct copies *t, struct copy *parent,
			      const char *name, size_t n)
{
	struct copy *c;

	if (t->most && t->n >= t->most)
		return NULL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->name = strndup(name, n);
	if (!c->name) {
		free(c);
		return NULL;
	}
	put_name(t, c, parent);
	return c;
}

struct copy *copies_make(struct copies *t, const char *path)
{
	struct copy *c = &t->root;

	for (size_t n;; path += n + 1) {
		struct copy *below;

		n = strcspn(path, "/");
		below = find_below(t, c, path, n);
		if (!below)
			below = new_below(t, c, path, n);
		if (!below) {
			copies_settle(t, c);
			return NULL;
		}
		c = below;
		if (!path[n])
			return c;
	}
}

/* --- what is known -------------------------------------------------------- */

bool copy_is_made(const struct copy *c)
{
	if (!c)
		return false;
	switch (c->kind) {
	case COPY_FILE:
	case COPY_LINK:
	case COPY_FOLDER:
	case COPY_HUSK:
		return true;
	case COPY_NONE:
	case COPY_TRACKED:
	case COPY_GONE:
		break;
	}
	return false;
}

static void forget_kind(struct copies *t, struct copy *c)
{
	if (c->data)
		copies_release(t, c->data);
	t->held -= c->kind == COPY_GONE;
	free(c->text);
	c->data = NULL;
	c->text = NULL;
	c->config = c->given = false;
	c->kind = COPY_NONE;
}

static void free_name(struct copies *t, struct copy *c)
{
	forget_kind(t, c);
	take_name(t, c);
	free(c->name);
	free(c);
}

/* From the deepest on; without a stack that a deep tree could exhaust. */
static void free_below(struct copies *t, struct copy *top)
{
	struct copy *c = top;

	while (top->first) {
		while (c->first)
			c = c->first;
		c = c->parent;
		free_name(t, c->first);
	}
}

void copies_done(struct copies *t)
{
	free_below(t, &t->root);
	free(t->buckets);
	*t = (struct copies){0};
}

void copies_settle(struct copies *t, struct copy *c)
{
	while (c->parent && c->kind == COPY_NONE && !c->first) {
		struct copy *parent = c->parent;

		free_name(t, c);
		c = parent;
	}
}

bool copies_set(struct copies *t, struct copy *c, enum copy_kind kind,
		struct copy_data *take_data)
{
	if (kind == COPY_GONE && c->kind != COPY_GONE &&
	    t->held - (c->data && c->data->refs == 1) >= t->given + COPIES_MAX)
		return false;
	free_below(t, c);
	forget_kind(t, c);
	c->kind = kind;
	c->data = take_data;
	t->held += kind == COPY_GONE;
	copies_settle(t, c);
	return true;
}

/* The names below it keep it as their parent. */
void copies_move(struct copies *t, struct copy *c, struct copy *take_to)
{
	struct copy *was = c->parent, *parent = take_to->parent;
	char *name = c->name;

	free_below(t, take_to);
	take_name(t, c);
	take_name(t, take_to);
	c->name = take_to->name;
	put_name(t, c, parent);
	forget_kind(t, take_to);
	free(take_to);
	free(name);
	copies_settle(t, was);
}

void copies_exchange(struct copies *t, struct copy *a, struct copy *b)
{
	struct copy *parent = a->parent;
	char *name = a->name;

	take_name(t, a);
	take_name(t, b);
	a->name = b->name;
	b->name = name;
	put_name(t, a, b->parent);
	put_name(t, b, parent);
}

struct copy *copies_after(const struct copy *parent, uint32_t serial)
{
	struct copy *c = parent->first;

	while (c && c->serial <= serial)
		c = c->after;
	return c;
}

/* --- data ----------------------------------------------------------------- */

struct copy_data *copies_data(struct copies *t, int take_fd)
{
	struct copy_data *d = copies_full(t) ? NULL : calloc(1, sizeof(*d));

	if (!d) {
		fd_close(&take_fd);
		return NULL;
	}
	d->fd = take_fd;
	d->refs = 1;
	t->held++;
	return d;
}

void copies_release(struct copies *t, struct copy_data *d)
{
	if (--d->refs)
		return;
	t->held--;
	t->bytes -= d->size;
	fd_close(&d->fd);
	free(d->husk);
	free(d);
}

bool copies_grow(struct copies *t, struct copy_data *d, uint64_t size)
{
	if (size <= d->size)
		return true;
	if (size - d->size > COPIES_BYTES_MAX - t->bytes)
		return false;
	t->bytes += size - d->size;
	d->size = size;
	return true;
}

void copies_shrink(struct copies *t, struct copy_data *d, uint64_t size)
{
	if (size >= d->size)
		return;
	t->bytes -= d->size - size;
	d->size = size;
}
