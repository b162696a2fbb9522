/*
 * How many trials: sanitizers take their time, and what counts branches needs
 * each but once.
 */
#ifndef TESTS_ORACLE_SCALED_H
#define TESTS_ORACLE_SCALED_H

#if defined(ARENA_MALLOC) || defined(COVERAGE)
#define SCALED(n, by) ((n) / (by))
#else
#define SCALED(n, by) (n)
#endif

#endif
