/* Where the gate's program is: beside the one of a test. */
#ifndef TESTS_UNIT_GATE_PROGRAM_H
#define TESTS_UNIT_GATE_PROGRAM_H

#include "tests/check.h"

#include <string.h>
#include <unistd.h>

static char program[512];

static inline void find_program(void)
{
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 64);
	char *at;

	program[n < 0 ? 0 : n] = '\0';
	at = strstr(program, "/tests/unit/");
	CHECK(at != NULL);
	if (at)
		strcpy(at, "/bin/membrane-gate");
}

#endif
