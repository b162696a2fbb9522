/*
 * What the unit tests share: count, say what failed, go on.
 */
#ifndef TESTS_UNIT_TEST_H
#define TESTS_UNIT_TEST_H

#include <stdio.h>

static unsigned test_passed, test_failed;

#define CHECK(cond)                                                            \
	do {                                                                   \
		if (cond) {                                                    \
			test_passed++;                                         \
		} else {                                                       \
			test_failed++;                                         \
			printf("%s:%d: %s\n", __FILE__, __LINE__, #cond);      \
		}                                                              \
	} while (0)

static int test_report(void)
{
	printf("%u passed, %u failed\n", test_passed, test_failed);
	return test_failed != 0;
}

#endif
