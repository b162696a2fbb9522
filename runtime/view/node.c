#include "runtime/view/node.h"

#include "compiler/base/err.h"
#include "compiler/base/hash.h"
#include "runtime/view/watches.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FIRST_SIZE 1024u

static uint32_t bucket_of(const struct nodes *t, const struct node *parent,
			  const char *name)
{
	uint32_t h = hash_bytes(HASH_SEED, &parent, sizeof(parent));

	return hash_mixed(hash_bytes(h, name, strlen(name))) & (t->size - 1);
}

bool nodes_init(struct nodes *t, int root_fd)
{
	*t = (struct nodes){.size = FIRST_SIZE};
	t->root = (struct node){.fd = root_fd, .lookups = 1, .type = S_IFDIR};
	t->buckets = calloc(t->size, sizeof(struct node *));
	return t->buckets;
}

static void free_node(struct nodes *t, struct node *n)
{
	if (n->watch)
		watches_drop(t->watches, n);
	fd_close(&n->fd);
	if (n->name != n->room)
		free(n->name);
	free(n);
}

void nodes_done(struct nodes *t)
{
	for (uint32_t i = 0; i < t->size; i++) {
		struct node *n = t->buckets[i], *next;

		for (; n; n = next) {
			next = n->next;
			free_node(t, n);
		}
	}
	free(t->buckets);
	fd_close(&t->root.fd);
}

static void grow_table(struct nodes *t)
{
	struct nodes to = {.size = t->size * 2};

	to.buckets = calloc(to.size, sizeof(struct node *));
	if (!to.buckets)
		return; /* slower, and as right */
	for (uint32_t i = 0; i < t->size; i++) {
		struct node *n = t->buckets[i], *next;

		for (; n; n = next) {
			struct node **b =
				&to.buckets[bucket_of(&to, n->parent, n->name)];

			next = n->next;
			n->next = *b;
			*b = n;
		}
	}
	free(t->buckets);
	t->buckets = to.buckets;
	t->size = to.size;
}

static void file_node(struct nodes *t, struct node *n)
{
	struct node **b;

	if (t->n >= t->size)
		grow_table(t);
	b = &t->buckets[bucket_of(t, n->parent, n->name)];
	n->next = *b;
	*b = n;
	n->orphan = false;
	t->n++;
}

struct node *node_find(const struct nodes *t, const struct node *parent,
		       const char *name)
{
	struct node *n = t->buckets[bucket_of(t, parent, name)];

	while (n && !(n->parent == parent && strcmp(n->name, name) == 0))
		n = n->next;
	return n;
}

void node_orphan(struct nodes *t, struct node *n)
{
	struct node **at;

	if (n->orphan || !n->parent)
		return;
	at = &t->buckets[bucket_of(t, n->parent, n->name)];
	while (*at != n)
		at = &(*at)->next;
	*at = n->next;
	n->next = NULL;
	n->orphan = true;
	t->n--;
}

struct node *node_new(struct nodes *t, struct node *parent, const char *name)
{
	size_t size = strlen(name) + 1;
	struct node *n = calloc(1, sizeof(*n) + size), *had;

	if (!n)
		return NULL;
	n->fd = -1;
	n->name = memcpy(n->room, name, size);
	had = node_find(t, parent, name);
	if (had)
		node_orphan(t, had);
	n->parent = parent;
	parent->below_n++;
	file_node(t, n);
	return n;
}

void node_settle(struct nodes *t, struct node *n)
{
	while (n->parent && n->lookups == 0 && n->below_n == 0) {
		struct node *parent = n->parent;

		node_orphan(t, n);
		free_node(t, n);
		parent->below_n--;
		n = parent;
	}
}

static void take_name(struct node *n, char *take_name)
{
	if (n->name != n->room)
		free(n->name);
	n->name = take_name;
}

bool node_move(struct nodes *t, struct node *n, struct node *parent,
	       const char *name)
{
	struct node *had = node_find(t, parent, name), *was = n->parent;
	char *copy = strdup(name);

	if (had && had != n)
		node_orphan(t, had);
	node_orphan(t, n);
	if (!copy)
		return false;
	take_name(n, copy);
	n->parent = parent;
	parent->below_n++;
	file_node(t, n);
	was->below_n--;
	node_settle(t, was);
	return true;
}

void node_exchange(struct nodes *t, struct node *a, struct node *b)
{
	struct node *parent;
	char *of_a = a ? strdup(a->name) : NULL;
	char *of_b = b ? strdup(b->name) : NULL;

	if (a)
		node_orphan(t, a);
	if (b)
		node_orphan(t, b);
	/* One that the kernel does not know is found anew. */
	if (!of_a || !of_b) {
		free(of_a);
		free(of_b);
		return;
	}
	parent = a->parent;
	a->parent = b->parent;
	b->parent = parent;
	take_name(a, of_b);
	take_name(b, of_a);
	file_node(t, a);
	file_node(t, b);
}

size_t node_path(const struct node *n, const char *name, char *buf, size_t size)
{
	const char *part = name ? name : n->name;
	const struct node *up = name ? n : n->parent;
	size_t at = size - 1;

	buf[at] = '\0';
	while (part) {
		size_t len = strlen(part);

		if (at < len + 1)
			return 0;
		if (at < size - 1)
			buf[--at] = '/';
		at -= len;
		memcpy(buf + at, part, len);
		part = up ? up->name : NULL;
		up = up ? up->parent : NULL;
	}
	memmove(buf, buf + at, size - at);
	return size - 1 - at;
}
