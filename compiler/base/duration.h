/*
 * A length of time as people write it: 90s, 10m, 1h30m, 2d, 1w.
 */
#ifndef COMPILER_BASE_DURATION_H
#define COMPILER_BASE_DURATION_H

#include "compiler/base/str.h"

/* Seconds. False: it is no such text. An empty one is 0 seconds. */
bool duration_parse(struct str text, uint64_t *out_s);

#endif
