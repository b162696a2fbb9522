/* How many pieces of memory OpenSSL has, so that a test sees what is not given
 * back: CRYPTO_set_mem_functions() with these, before anything else. */
#ifndef TESTS_UNIT_GATE_PIECES_H
#define TESTS_UNIT_GATE_PIECES_H

#include <stdlib.h>

static long pieces_held;

static inline void *pieces_take(size_t n, const char *file, int line)
{
	void *p = malloc(n);

	(void)file;
	(void)line;
	pieces_held += p != NULL;
	return p;
}

static inline void pieces_give(void *p, const char *file, int line)
{
	(void)file;
	(void)line;
	pieces_held -= p != NULL;
	free(p);
}

static inline void *pieces_change(void *p, size_t n, const char *file, int line)
{
	if (p && n)
		return realloc(p, n);
	pieces_give(p, file, line);
	return n ? pieces_take(n, file, line) : NULL;
}

#endif
