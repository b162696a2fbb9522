/*
 * What tests/mutants/schemata.py puts into a copy of the sources: all mutants
 * of a file are in it at once, and the environment says which one is on.
 *
 *	MEMBRANE_MUTANT		its number, or several with commas between; none
 *				without. A program that is begun without an
 *				environment has one from a limit that nothing else
 *				has a use for, RLIMIT_RTTIME: MUTANT_LIMIT and the
 *				number
 *	MEMBRANE_MUTANTS_SEEN	a file with a byte for each: 1 where it would
 *				have made a difference. The tests that a mutant
 *				is shown to.
 */
#ifndef TESTS_MUTANTS_MUTANT_H
#define TESTS_MUTANTS_MUTANT_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define MUTANT_LIMIT 1000000000000ul
#define MUTANT_MAX   (1u << 16) /* numbers */

/* One of each per program, whichever file's. */
__attribute__((weak)) unsigned char mutant_on[MUTANT_MAX];
__attribute__((weak)) unsigned char *mutant_seen;
__attribute__((weak)) unsigned mutant_count;

__attribute__((weak, constructor)) void mutant_begin(void);
void mutant_begin(void)
{
	char *now = getenv("MEMBRANE_MUTANT");
	const char *seen = getenv("MEMBRANE_MUTANTS_SEEN");
	struct rlimit limit;
	struct stat st;
	int fd;

	while (now && *now) {
		mutant_on[strtoul(now, &now, 10) % MUTANT_MAX] = 1;
		now += *now == ',';
	}
	if (!now && getrlimit(RLIMIT_RTTIME, &limit) == 0 &&
	    limit.rlim_max != RLIM_INFINITY && limit.rlim_max > MUTANT_LIMIT)
		mutant_on[(limit.rlim_max - MUTANT_LIMIT) % MUTANT_MAX] = 1;
	if (!seen || mutant_seen)
		return;
	fd = open(seen, O_RDWR | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return;
	mutant_count = (unsigned)st.st_size;
	mutant_seen = mmap(NULL, mutant_count, PROT_READ | PROT_WRITE,
			   MAP_SHARED, fd, 0);
	if (mutant_seen == MAP_FAILED)
		mutant_seen = NULL;
	close(fd);
}

static inline int mutant(unsigned n)
{
	if (mutant_seen && n < mutant_count)
		mutant_seen[n] = 1;
	return mutant_on[n];
}

/* What a mutant takes for a process is nobody else's, least of all everybody's. */
static inline int mutant_kill(pid_t pid, int signal)
{
	if (pid > 0)
		return kill(pid, signal);
	errno = ESRCH;
	return -1;
}
#define kill mutant_kill

/*
 * A condition that is always so. It is evaluated all the same, and the mutant
 * asked for only where its answer is another one: a test that has not seen it
 * cannot notice it, and need not be run.
 */
#define MUTANT_TRUE(n, x)  ((x) || mutant(n))
#define MUTANT_FALSE(n, x) ((x) && !mutant(n))
/* Each operand is evaluated once, promoted as it would be. */
#define MUTANT_OP(n, was, is, a, b)                                            \
	({                                                                     \
		__auto_type a_##n = (a);                                       \
		__auto_type b_##n = (b);                                       \
		__auto_type was_##n = a_##n was b_##n;                         \
		__auto_type is_##n = a_##n is b_##n;                           \
		was_##n != is_##n && mutant(n) ? is_##n : was_##n;             \
	})
/* A statement that is not there. */
#define MUTANT_GONE(n, x) ((void)(mutant(n) ? 0 : ((x), 0)))

#endif
