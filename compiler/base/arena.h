/*
 * The one allocator of the compiler: everything lives until the end.
 *
 * Blocks come zeroed and aligned for any type, and are released together by
 * arena_free(). Out of memory prints a line and exits with status 3: no caller
 * has anything better to do. A build with -DARENA_MALLOC gives each object a
 * block of its own, so that a sanitizer sees where it ends.
 */
#ifndef COMPILER_BASE_ARENA_H
#define COMPILER_BASE_ARENA_H

#include "compiler/base/str.h"

struct arena;

struct arena *arena_new(void);
void arena_free(struct arena *a); /* NULL is allowed */
/*
 * From now on all arenas together have at most so many bytes. More prints what
 * to do and exits with status 3, before a machine that has less runs dry.
 */
void arena_bound(size_t bytes);
/* What it exits with instead, as where 3 is the command's own word. */
void arena_failure(int status);

void *arena_alloc(struct arena *a, size_t size);
/* n objects of size bytes; a product that overflows ends the program. */
void *arena_array(struct arena *a, size_t n, size_t size);
/*
 * Room for size bytes in place of the n that p was given, which are kept; what
 * is behind them need not be zero. p is not valid any longer; it may be of
 * somebody else.
 */
void *arena_grow(struct arena *a, void *p, size_t n, size_t size);
/* Both copy, and put a NUL behind the copy. */
struct str arena_str(struct arena *a, struct str s);
char *arena_cstr(struct arena *a, struct str s);
struct str arena_fmt(struct arena *a, const char *fmt, ...) printf_like(2, 3);

#define arena_new_of(a, type) ((type *)arena_alloc((a), sizeof(type)))

/*
 * A growable array of T, zero-initialised to empty:
 *
 *	VEC(struct ir_port) ports;
 *	*vec_push(a, &ports) = (struct ir_port){...};
 *	vec_each(p, &ports)
 *		use(p);
 *
 * vec_push returns the new, zeroed element; pointers to older elements are
 * invalid after it.
 */
#define VEC(T)                                                                 \
	struct {                                                               \
		T *v;                                                          \
		uint32_t n, cap;                                               \
	}

#define vec_push(a, vec)                                                       \
	((vec)->v = vec_grow_((a), (vec)->v, &(vec)->n, &(vec)->cap,           \
			      sizeof(*(vec)->v)),                              \
	 &(vec)->v[(vec)->n - 1])

/* Room for so many more: a list whose length is known is grown once. */
#define vec_reserve(a, vec, more)                                              \
	((vec)->v = vec_reserve_((a), (vec)->v, (vec)->n, &(vec)->cap, (more), \
				 sizeof(*(vec)->v)))

#define vec_each(it, vec)                                                      \
	for (__typeof__(*(vec)->v) *it = (vec)->v;                             \
	     (vec)->n && it < (vec)->v + (vec)->n; it++)

/* As qsort() does; what is in order already, as most is, is only looked at. */
#define vec_sort(vec, cmp)                                                     \
	vec_sort_((vec)->v, (vec)->n, sizeof(*(vec)->v), (cmp))

void *vec_grow_(struct arena *a, void *v, uint32_t *n, uint32_t *cap,
		size_t size);
void *vec_reserve_(struct arena *a, void *v, uint32_t n, uint32_t *cap,
		   size_t more, size_t size);
void vec_sort_(void *v, uint32_t n, size_t size,
	       int (*cmp)(const void *, const void *));

#endif
