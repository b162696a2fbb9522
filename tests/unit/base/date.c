/* Dates: against the C library's calendar, and what is none. */
#include "compiler/base/date.h"
#include "tests/check.h"

#include <time.h>

static struct arena *a;

static void every_day(void)
{
	for (uint32_t day = 0; day < 200 * 366; day += 1) {
		time_t t = (time_t)day * DATE_DAY_S;
		char text[16];
		struct tm tm;
		uint32_t back = 1;

		gmtime_r(&t, &tm);
		strftime(text, sizeof(text), "%Y-%m-%d", &tm);
		if (date_parse(str_of(text), &back) && back == day)
			check_passed++;
		else
			CHECK_MSG(false, "%s", text);
		if (!str_is(date_text(a, day), text))
			CHECK_MSG(false, "%s", text);
	}
}

int main(void)
{
	static const char *const wrong[] = {
		"",
		"2027-1-31",
		"2027-02-29",
		"2100-02-29",
		"2027-13-01",
		"2027-00-01",
		"2027-01-00",
		"2027-01-32",
		"2027-04-31",
		"1969-12-31",
		"2027/01/31",
		"27-01-31",
		"2027-01-31 ",
		"+027-01-31",
		"2027-01-3x",
		"20270131",
	};
	uint32_t day;

	a = arena_new();
	every_day();
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		CHECK_MSG(!date_parse(str_of(wrong[i]), &day), "%s", wrong[i]);
	CHECK(date_parse(STR("9999-12-31"), &day));
	CHECK(str_is(date_text(a, day), "9999-12-31"));
	arena_free(a);
	return check_status();
}
