/* Times: the earlier of two, of which each may be none; as records have them. */
#include "compiler/base/sys/clock.h"
#include "tests/check.h"

#include <string.h>

int main(void)
{
	struct timespec t = {.tv_sec = 1780000000, .tv_nsec = 1234567};
	char text[CLOCK_TEXT_MAX];
	int64_t before = clock_ms();

	CHECK(clock_earlier(0, 0) == 0);
	CHECK(clock_earlier(5, 0) == 5 && clock_earlier(0, 5) == 5);
	CHECK(clock_earlier(5, 6) == 5 && clock_earlier(6, 5) == 5);
	CHECK(strcmp(clock_text(&t, text), "2026-05-28T20:26:40.001234Z") == 0);
	CHECK(clock_ns() / 1000000 >= before && clock_ms() >= before);
	return check_status();
}
