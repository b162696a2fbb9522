/*
 * The little that a test program needs: each failed CHECK prints its place and
 * counts; main returns check_status(), which prints the counts last.
 */
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include <stdio.h>

static unsigned check_passed, check_failed;

#define CHECK(cond)                                                            \
	do {                                                                   \
		if (!(cond)) {                                                 \
			fprintf(stderr, "%s:%d: failed: %s\n", __FILE__,       \
				__LINE__, #cond);                              \
			check_failed++;                                        \
		} else {                                                       \
			check_passed++;                                        \
		}                                                              \
	} while (0)

/* With a sentence about the case at hand. */
#define CHECK_MSG(cond, ...)                                                   \
	do {                                                                   \
		if (!(cond)) {                                                 \
			fprintf(stderr, "%s:%d: failed: %s: ", __FILE__,       \
				__LINE__, #cond);                              \
			fprintf(stderr, __VA_ARGS__);                          \
			fputc('\n', stderr);                                   \
			check_failed++;                                        \
		} else {                                                       \
			check_passed++;                                        \
		}                                                              \
	} while (0)

static inline int check_status(void)
{
	fflush(stderr);
	printf("%u passed, %u failed\n", check_passed, check_failed);
	return check_failed ? 1 : 0;
}

#endif
