/*
 * What --since takes:
 *
 *	90s 10m 1h30m 2d 1w         so long before now
 *	08:25  08:25:52.888         today, as `trace show` prints it
 *	2026-01-31  yesterday       the beginning of that day
 *	2026-01-31T12:00:00Z        RFC 3339; a blank for the T, the seconds,
 *	2026-01-31 12:00+02:00      a fraction and the offset may be left out
 *	1769860800                  seconds since 1970, or nanoseconds, as the
 *	1769860800000000000         records have them
 *
 * Times are UTC unless they say otherwise.
 */
#ifndef COMPILER_CLI_TRACES_TRACE_SINCE_H
#define COMPILER_CLI_TRACES_TRACE_SINCE_H

#include "compiler/base/str.h"

/* now_s: since 1970. What lies before 1970 is 1970. False: none of these. */
bool trace_since(struct str text, int64_t now_s, uint64_t *out_ns);

#endif
