/*
 * Many trials on all processors: each worker is a process with a part of them,
 * whose seeds do not depend on how many there are.
 */
#ifndef TESTS_ORACLE_WORKERS_H
#define TESTS_ORACLE_WORKERS_H

#include "tests/check.h"
#include "tests/oracle/generate.h"
#include "tests/oracle/scaled.h"

#include <malloc.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORKERS_COUNTS 8
#define WORKERS_MAX    8

typedef void (*workers_trial)(struct rng *r, uint64_t i);
typedef void (*workers_report)(uint64_t out[WORKERS_COUNTS]);

static inline void workers_one(uint64_t first, uint64_t step, uint64_t n,
			       uint64_t seed, workers_trial trial,
			       workers_report report, int out)
{
	uint64_t counts[WORKERS_COUNTS] = {0};

	/* Arenas come and go: keep their pages. */
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	mallopt(M_TOP_PAD, 1 << 24);
	mallopt(M_MMAP_THRESHOLD, 1 << 28);
	for (uint64_t i = first; i < n && check_failed < 5; i += step) {
		struct rng r = {.state = seed << 32 ^ i};

		trial(&r, i);
	}
	report(counts);
	if (write(out, counts, sizeof(counts)) != sizeof(counts))
		_exit(1);
	fflush(stderr);
	_exit(check_failed != 0);
}

static inline void workers_run(uint64_t n, uint64_t seed, workers_trial trial,
			       workers_report report,
			       uint64_t sum[WORKERS_COUNTS])
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t k = cpus < 1 ? 1 : cpus > WORKERS_MAX ? WORKERS_MAX : cpus;
	int pipes[2], status;

	memset(sum, 0, WORKERS_COUNTS * sizeof(*sum));
	if (pipe(pipes) < 0)
		abort();
	for (uint64_t i = 0; i < k; i++)
		if (fork() == 0)
			workers_one(i, k, n, seed, trial, report, pipes[1]);
	close(pipes[1]);
	for (uint64_t i = 0; i < k; i++) {
		uint64_t counts[WORKERS_COUNTS];

		if (read(pipes[0], counts, sizeof(counts)) == sizeof(counts))
			for (int c = 0; c < WORKERS_COUNTS; c++)
				sum[c] += counts[c];
		CHECK(wait(&status) > 0 && WIFEXITED(status) &&
		      WEXITSTATUS(status) == 0);
	}
	close(pipes[0]);
}

#endif
