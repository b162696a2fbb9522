/*
 * Dates as people write them, ISO 8601: 2027-01-31. As numbers they count the
 * days since 1970-01-01, in UTC.
 */
#ifndef COMPILER_BASE_DATE_H
#define COMPILER_BASE_DATE_H

#include "compiler/base/arena.h"

#define DATE_DAY_S 86400u

/* Years 1970 to 9999 of the Gregorian calendar; false for anything else. */
bool date_parse(struct str s, uint32_t *out_days);
struct str date_text(struct arena *a, uint32_t days);

#endif
