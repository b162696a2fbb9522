/*
 * How often each of many texts came, in bounded memory: beyond COUNT_MAX
 * different ones new ones are counted together.
 */
#ifndef COMPILER_TRACE_COUNT_H
#define COMPILER_TRACE_COUNT_H

#include "compiler/base/arena.h"

#define COUNT_MAX      32768u
#define COUNT_TEXT_MAX 512u /* bytes of one that are kept */

struct count_entry {
	struct str text;
	uint64_t n;
};

struct count {
	struct arena *a;
	struct count_entry slot[2 * COUNT_MAX]; /* by hash, n 0: free */
	uint32_t used;
	uint64_t total, others; /* others: of texts that found no room */
};

struct count *count_new(struct arena *a);
void count_add(struct count *c, struct str text);
/* The most frequent first, texts decide a tie; at most n. In the arena. */
uint32_t count_top(const struct count *c, uint32_t n, struct count_entry **out);

#endif
