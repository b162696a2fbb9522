/* A clock for what is measured: monotonic, from some point on. */
#ifndef TESTS_BENCH_CLOCK_H
#define TESTS_BENCH_CLOCK_H

#include <time.h>

static inline double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static inline double now_ms(void)
{
	return now_us() / 1e3;
}

static inline double now_s(void)
{
	return now_us() / 1e6;
}

#endif
