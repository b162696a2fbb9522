#include "compiler/base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void buf_init(struct buf *b, struct arena *a)
{
	*b = (struct buf){.a = a, .p = arena_alloc(a, 256), .cap = 256};
}

void buf_init_in(struct buf *b, struct arena *a, char *room, size_t size)
{
	*b = (struct buf){.a = a, .p = room, .cap = size};
	room[0] = '\0';
}

struct str buf_keep(const struct buf *b)
{
	return arena_str(b->a, buf_str(b));
}

static void grow_buf(struct buf *b, size_t n)
{
	size_t cap = b->cap;

	while (cap - b->n <= n)
		cap = cap > SIZE_MAX / 4 ? SIZE_MAX / 2 : cap * 2;
	b->p = arena_grow(b->a, b->p, b->cap, cap);
	b->cap = cap;
}

/* Room for n more bytes and the NUL. */
static inline void reserve_room(struct buf *b, size_t n)
{
	if (n >= b->cap - b->n)
		grow_buf(b, n);
}

void buf_add(struct buf *b, struct str s)
{
	if (s.n == 0)
		return;
	reserve_room(b, s.n);
	memcpy(b->p + b->n, s.p, s.n);
	b->n += s.n;
	b->p[b->n] = '\0';
}

void buf_adds(struct buf *b, const char *cstr)
{
	buf_add(b, str_of(cstr));
}

void buf_addc(struct buf *b, char c)
{
	reserve_room(b, 1);
	b->p[b->n++] = c;
	b->p[b->n] = '\0';
}

void buf_addf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	int n;

	/* Mostly there is room. */
	va_start(ap, fmt);
	n = vsnprintf(b->p + b->n, b->cap - b->n, fmt, ap);
	va_end(ap);
	if (n < 0) {
		b->p[b->n] = '\0';
		return;
	}
	if ((size_t)n >= b->cap - b->n) {
		reserve_room(b, (size_t)n);
		va_start(ap, fmt);
		vsnprintf(b->p + b->n, (size_t)n + 1, fmt, ap);
		va_end(ap);
	}
	b->n += (size_t)n;
}

void buf_addu(struct buf *b, uint64_t n)
{
	char digits[20];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	buf_add(b, (struct str){digits + at, sizeof(digits) - at});
}

void buf_cut(struct buf *b, size_t n)
{
	b->n = n;
	b->p[n] = '\0';
}

struct str buf_str(const struct buf *b)
{
	return (struct str){b->p, b->n};
}
