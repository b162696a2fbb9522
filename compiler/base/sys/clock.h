/* Time: monotonic, for waits; UTC text for records. */
#ifndef COMPILER_BASE_SYS_CLOCK_H
#define COMPILER_BASE_SYS_CLOCK_H

#include <stdint.h>
#include <time.h>

#define CLOCK_TEXT_MAX 32

/* Of the monotonic clock. */
int64_t clock_ms(void);
int64_t clock_ns(void);
/* Of two times, each 0 for never. */
int64_t clock_earlier(int64_t a, int64_t b);
/* "2026-01-01T00:00:00.000000Z" */
const char *clock_text(const struct timespec *t, char buf[CLOCK_TEXT_MAX]);

#endif
