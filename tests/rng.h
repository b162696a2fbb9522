/*
 * Random numbers that are the same everywhere: what a test generates depends on
 * its seed alone.
 */
#ifndef TESTS_RNG_H
#define TESTS_RNG_H

#include <stdint.h>

struct rng {
	uint64_t state;
};

/* splitmix64 */
static inline uint64_t rng_next(struct rng *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* 0 to n - 1 */
static inline uint32_t rng_below(struct rng *r, uint32_t n)
{
	return (uint32_t)(rng_next(r) % n);
}

#endif
