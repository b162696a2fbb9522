#include "compiler/base/sys/clock.h"

#include <stdio.h>

int64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t clock_ms(void)
{
	return clock_ns() / 1000000;
}

int64_t clock_earlier(int64_t a, int64_t b)
{
	return !a || (b && b < a) ? b : a;
}

const char *clock_text(const struct timespec *t, char buf[CLOCK_TEXT_MAX])
{
	struct tm tm;
	size_t n;

	gmtime_r(&t->tv_sec, &tm);
	n = strftime(buf, CLOCK_TEXT_MAX, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(buf + n, CLOCK_TEXT_MAX - n, ".%06dZ",
		 (int)(t->tv_nsec / 1000 % 1000000));
	return buf;
}
