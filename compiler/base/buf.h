/*
 * A growable run of bytes in an arena: what emitters write into.
 *
 * The text is always followed by a NUL that does not count.
 */
#ifndef COMPILER_BASE_BUF_H
#define COMPILER_BASE_BUF_H

#include "compiler/base/arena.h"

struct buf {
	struct arena *a;
	char *p;
	size_t n, cap;
};

void buf_init(struct buf *b, struct arena *a);
/*
 * Begin in room that the caller has, of size bytes, at least one; what grows
 * out of it goes on in the arena. For short texts that buf_keep() copies.
 */
void buf_init_in(struct buf *b, struct arena *a, char *room, size_t size);
/* The bytes as an exact copy in the arena. */
struct str buf_keep(const struct buf *b);
void buf_add(struct buf *b, struct str s);
void buf_adds(struct buf *b, const char *cstr);
void buf_addc(struct buf *b, char c);
void buf_addf(struct buf *b, const char *fmt, ...) printf_like(2, 3);
/* Decimal; what buf_addf() does, where there are many. */
void buf_addu(struct buf *b, uint64_t n);
/* Take back what is behind the first n bytes, of which there are as many. */
void buf_cut(struct buf *b, size_t n);
/* The bytes as a view; valid until the next addition. */
struct str buf_str(const struct buf *b);

#endif
