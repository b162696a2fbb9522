/*
 * Whether a text is anywhere in what this process could write: its heap, its
 * stack however deep it was, its variables; what it shares with another one is
 * left out. The text itself has to be elsewhere.
 */
#ifndef TESTS_UNIT_GATE_SECRETS_H
#define TESTS_UNIT_GATE_SECRETS_H

#include "tests/check.h"
#include "tests/unit/sanitized.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static char secrets_part[1u << 16];

static inline bool secrets_between(int memory, uint64_t at, uint64_t end,
				   const char *text, size_t size)
{
	while (at < end) {
		size_t n = end - at < sizeof(secrets_part)
				   ? end - at
				   : sizeof(secrets_part);
		ssize_t got = pread(memory, secrets_part, n, (off_t)at);

		if (got <= 0)
			return false;
		if (memmem(secrets_part, (size_t)got, text, size)) {
			memset(secrets_part, 0, sizeof(secrets_part));
			return true;
		}
		/* a text may lie across two parts */
		at += (size_t)got == end - at ? (size_t)got
					      : (size_t)got - size;
	}
	return false;
}

/* With sanitizers there is more to look through than there is time for. */
static inline bool is_in_memory(const char *text, size_t size)
{
	FILE *maps = STEPS_SANITIZED ? NULL : fopen("/proc/self/maps", "re");
	int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	uint64_t beg, end;
	char line[512], how[8];
	bool found = false;

	CHECK(memory >= 0 && (maps || STEPS_SANITIZED));
	while (maps && !found && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %7s", &beg, &end, how) == 3 &&
		    strcmp(how, "rw-p") == 0)
			found = secrets_between(memory, beg, end, text, size);
	if (maps)
		fclose(maps);
	close(memory);
	return found;
}

/* Bytes that are not given back. */
static inline size_t memory_held(void)
{
	const struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

#endif
