#include "compiler/base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first block; each has twice the bytes of the last, so that a large policy
 * has few. Beyond malloc's own pool, calloc() hands out fresh pages, which
 * neither it nor anybody else has to clear. */
#define BLOCK_BYTES (64u << 10)
#define BLOCK_MOST  (4u << 20)

struct block {
	struct block *next;
	size_t used, size;
	max_align_t data[];
};

struct arena {
	struct block *blocks;
	size_t bytes; /* of the next block */
};

/* Of all arenas together; 0: no bound. */
static size_t live, bound;
static int failure = 3;

static _Noreturn void out_of_memory(void)
{
	fputs("membrane: out of memory\n", stderr);
	exit(failure);
}

void arena_failure(int status)
{
	failure = status;
}

void arena_bound(size_t bytes)
{
	bound = bytes;
}

/* Before it is asked for: a machine may promise more than it has. */
static void take_bytes(size_t bytes)
{
	if (bound && (live > bound || bytes > bound - live)) {
		fprintf(stderr,
			"membrane: this needs more than %zu MiB of memory, which is the most that is taken\n"
			"  fewer rules, or simpler ones: networks and wildcards instead of single names, and fewer '*' within names\n",
			bound >> 20);
		exit(failure);
	}
	live += bytes;
}

struct arena *arena_new(void)
{
	struct arena *a = calloc(1, sizeof(*a));

	if (!a)
		out_of_memory();
	a->bytes = BLOCK_BYTES;
	return a;
}

void arena_free(struct arena *a)
{
	struct block *b, *next;

	if (!a)
		return;
	for (b = a->blocks; b; b = next) {
		next = b->next;
		live -= b->size;
		free(b);
	}
	free(a);
}

static struct block *block_add(struct arena *a, size_t size)
{
	struct block *b;

	take_bytes(size);
	b = calloc(1, sizeof(*b) + size);
	if (!b)
		out_of_memory();
	b->size = size;
	b->next = a->blocks;
	a->blocks = b;
	return b;
}

/* What an object of that size takes of a block. */
static size_t room_of(size_t size)
{
	if (size > SIZE_MAX / 2)
		out_of_memory();
#ifdef ARENA_MALLOC
	return size;
#endif
	return (size + sizeof(max_align_t) - 1) & ~(sizeof(max_align_t) - 1);
}

void *arena_alloc(struct arena *a, size_t size)
{
	struct block *b = a->blocks;
	void *p;

	size = room_of(size);
#ifdef ARENA_MALLOC
	b = block_add(a, size);
	b->used = size;
	return b->data;
#endif
	if (size > a->bytes / 4) {
		/* A block of its own, behind the one that has room left. */
		struct block *big = block_add(a, size);

		big->used = size;
		if (b) {
			a->blocks = b;
			big->next = b->next;
			b->next = big;
		}
		return big->data;
	}
	if (!b || b->size - b->used < size) {
		b = block_add(a, a->bytes);
		if (a->bytes < BLOCK_MOST)
			a->bytes *= 2;
	}
	p = (char *)b->data + b->used;
	b->used += size;
	return p;
}

void *arena_array(struct arena *a, size_t n, size_t size)
{
	if (size && n > SIZE_MAX / 2 / size)
		out_of_memory();
	return arena_alloc(a, n * size);
}

/* The last thing of a block can have more of it. Both as room_of() has them. */
static bool extend_in_place(struct arena *a, const void *p, size_t n,
			    size_t size)
{
	struct block *b = a->blocks;

	if (!b || !p || (const char *)p + n != (char *)b->data + b->used ||
	    b->size - b->used < size - n)
		return false;
	b->used += size - n;
	return true;
}

/* What has a block of its own takes it along. */
static void *resized_object(struct arena *a, const void *p, size_t n,
			    size_t size)
{
	struct block *b;

	for (struct block **at = &a->blocks; (b = *at); at = &b->next) {
		if (p != b->data || n != b->size)
			continue;
		take_bytes(size - n);
		b = realloc(b, sizeof(*b) + size);
		if (!b)
			out_of_memory();
		b->size = b->used = size;
		*at = b;
		return b->data;
	}
	return NULL;
}

static void *moved_object(struct arena *a, const void *p, size_t n, size_t size)
{
	void *to = arena_alloc(a, size);

	if (n)
		memcpy(to, p, n);
	return to;
}

void *arena_grow(struct arena *a, void *p, size_t n, size_t size)
{
	size_t had = room_of(n), room = room_of(size);
	void *to;

	if (extend_in_place(a, p, had, room))
		return p;
	to = resized_object(a, p, had, room);
	return to ? to : moved_object(a, p, n, size);
}

char *arena_cstr(struct arena *a, struct str s)
{
	char *p = arena_alloc(a, s.n + 1);

	if (s.n)
		memcpy(p, s.p, s.n);
	return p;
}

struct str arena_str(struct arena *a, struct str s)
{
	return s.n ? (struct str){arena_cstr(a, s), s.n} : STR("");
}

struct str arena_fmt(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	char most[256];
	int n;
	char *p;

	va_start(ap, fmt);
	n = vsnprintf(most, sizeof(most), fmt, ap);
	va_end(ap);
	if (n < 0)
		out_of_memory();
	p = arena_alloc(a, (size_t)n + 1);
	if ((size_t)n < sizeof(most)) {
		memcpy(p, most, (size_t)n + 1);
		return (struct str){p, (size_t)n};
	}
	va_start(ap, fmt);
	vsnprintf(p, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return (struct str){p, (size_t)n};
}

/* The same elements, with room for more. Others may look at the old ones. */
static void *roomier_array(struct arena *a, void *v, uint32_t *cap, size_t more,
			   size_t size)
{
	size_t n = *cap * size;

	if (more > UINT32_MAX || (size && more > SIZE_MAX / 2 / size))
		out_of_memory();
	*cap = (uint32_t)more;
	return extend_in_place(a, v, room_of(n), room_of(more * size))
		       ? v
		       : moved_object(a, v, n, more * size);
}

void *vec_grow_(struct arena *a, void *v, uint32_t *n, uint32_t *cap,
		size_t size)
{
	if (*n == *cap)
		v = roomier_array(a, v, cap, *cap ? (size_t)*cap * 2 : 4, size);
	++*n;
	return v;
}

void *vec_reserve_(struct arena *a, void *v, uint32_t n, uint32_t *cap,
		   size_t more, size_t size)
{
	if (more <= *cap - n)
		return v;
	if (more > UINT32_MAX)
		out_of_memory();
	return roomier_array(a, v, cap, n + more, size);
}

void vec_sort_(void *v, uint32_t n, size_t size,
	       int (*cmp)(const void *, const void *))
{
	const char *p = v;
	uint32_t i = 1;

	while (i < n && cmp(p + (i - 1) * size, p + i * size) <= 0)
		i++;
	if (i < n)
		qsort(v, n, size, cmp);
}
