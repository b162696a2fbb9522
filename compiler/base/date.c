#include "compiler/base/date.h"

#define YEAR_FIRST 1970u

static bool is_leap(unsigned year)
{
	return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static unsigned days_of_year(unsigned year)
{
	return is_leap(year) ? 366 : 365;
}

static unsigned days_of_month(unsigned year, unsigned month)
{
	static const unsigned char days[] = {31, 28, 31, 30, 31, 30,
					     31, 31, 30, 31, 30, 31};

	return month == 2 && is_leap(year) ? 29 : days[month - 1];
}

static bool number_at(struct str s, size_t beg, size_t n, unsigned *out)
{
	uint64_t v;

	if (!str_u64(str_slice(s, beg, beg + n), 9999, &v))
		return false;
	*out = (unsigned)v;
	return true;
}

bool date_parse(struct str s, uint32_t *out_days)
{
	unsigned year, month, day;
	uint32_t days = 0;

	if (s.n != 10 || s.p[4] != '-' || s.p[7] != '-' ||
	    !number_at(s, 0, 4, &year) || !number_at(s, 5, 2, &month) ||
	    !number_at(s, 8, 2, &day))
		return false;
	if (year < YEAR_FIRST || month < 1 || month > 12 || day < 1 ||
	    day > days_of_month(year, month))
		return false;
	for (unsigned y = YEAR_FIRST; y < year; y++)
		days += days_of_year(y);
	for (unsigned m = 1; m < month; m++)
		days += days_of_month(year, m);
	*out_days = days + day - 1;
	return true;
}

struct str date_text(struct arena *a, uint32_t days)
{
	unsigned year = YEAR_FIRST, month = 1;

	for (; days >= days_of_year(year); year++)
		days -= days_of_year(year);
	for (; days >= days_of_month(year, month); month++)
		days -= days_of_month(year, month);
	return arena_fmt(a, "%04u-%02u-%02u", year, month, days + 1);
}
