/*
 * FNV-1a, for tables that nobody gains by filling badly, or whose size bounds
 * what that costs. Not for anything that has to hold against an attacker:
 * that is sha256.h.
 */
#ifndef COMPILER_BASE_HASH_H
#define COMPILER_BASE_HASH_H

#include "compiler/base/str.h"

#define HASH_SEED   2166136261u
#define HASH64_SEED 14695981039346656037u

/* Over the bytes of p, behind what h already covers: HASH_SEED for nothing. */
static inline uint32_t hash_bytes(uint32_t h, const void *p, size_t n)
{
	const uint8_t *at = p;

	for (size_t i = 0; i < n; i++)
		h = (h ^ at[i]) * 16777619u;
	return h;
}

static inline uint32_t hash_str(struct str s)
{
	return hash_bytes(HASH_SEED, s.p, s.n);
}

/* A remainder takes the low bits: the high ones should count there, too. */
static inline uint32_t hash_mixed(uint32_t h)
{
	return h ^ h >> 15;
}

/* One number as if it were a byte. */
static inline uint64_t hash64_step(uint64_t h, uint64_t v)
{
	return (h ^ v) * 1099511628211u;
}

static inline uint64_t hash64_bytes(uint64_t h, const void *p, size_t n)
{
	const uint8_t *at = p;

	for (size_t i = 0; i < n; i++)
		h = hash64_step(h, at[i]);
	return h;
}

static inline uint32_t hash64_folded(uint64_t h)
{
	return (uint32_t)(h ^ h >> 32);
}

#endif
