/* What --since takes, and what it does not. */
#include "compiler/cli/traces/trace_since.h"
#include "tests/check.h"

#define NOW 1780000000 /* 2026-05-28T20:26:40Z */
#define S   1000000000u

static bool is(const char *text, uint64_t ns)
{
	uint64_t got = 1;

	return trace_since(str_of(text), NOW, &got) && got == ns;
}

static bool is_none(const char *text)
{
	uint64_t got = 1;

	return !trace_since(str_of(text), NOW, &got) && got == 1;
}

static void spans(void)
{
	CHECK(is("90s", (NOW - 90ull) * S));
	CHECK(is("10m", (NOW - 600ull) * S));
	CHECK(is("-10m", (NOW - 600ull) * S));
	CHECK(is("1h30m", (NOW - 5400ull) * S));
	CHECK(is("2d", (NOW - 172800ull) * S));
	CHECK(is("1w", (NOW - 604800ull) * S));
	CHECK(is("0s", NOW * (uint64_t)S));
	CHECK(is("100000d", 0));
	CHECK(is("4000000000w4000000000w", 0));
	CHECK(is_none("4294967296s"));
	CHECK(is_none("") && is_none("-") && is_none("m") && is_none("5"));
	CHECK(is_none("1h1") && is_none("1.5h") && is_none("1y"));
	CHECK(is_none("10m ago") && is_none("--10m") && is_none("1h 30m"));
}

static void times(void)
{
	CHECK(is("9000-01-01", UINT64_MAX) && is("9999-12-31", UINT64_MAX));
	CHECK(is("2200-01-01", 7258118400ull * S) && is("0001-01-01", 0));
	const uint64_t day = 1779926400ull * S;

	CHECK(is("today", day) && is("yesterday", day - 86400ull * S));
	CHECK(is("2026-05-28", day));
	CHECK(is("00:00", day) && is("08:25", day + 30300ull * S));
	CHECK(is("08:25:52.888", day + 30352ull * S + 888000000u));
	CHECK(is("2026-05-28T08:25:52Z", day + 30352ull * S));
	CHECK(is("2026-05-28t08:25:52z", day + 30352ull * S));
	CHECK(is("2026-05-28 08:25", day + 30300ull * S));
	CHECK(is("2026-05-28T10:25:00+02:00", day + 30300ull * S));
	CHECK(is("2026-05-28T03:55:00.25-0430",
		 day + 30300ull * S + 250000000u));
	CHECK(is("1969-12-31T23:00:00Z", 0));
	CHECK(is("2024-02-29", 1709164800ull * S));
	CHECK(is_none("2026-02-29") && is_none("2026-13-01"));
	CHECK(is_none("2026-05-28T") && is_none("2026-05-28x"));
	CHECK(is_none("2026-05-28T24:00:00Z") && is_none("12:60"));
	CHECK(is_none("12:00:00.") && is_none("12:00:00.5x"));
	CHECK(is_none("2026-05-28T12:00:00+25:00"));
}

static void counts(void)
{
	CHECK(is("1780000006", 1780000006ull * S));
	CHECK(is("1780000006000000001", 1780000006000000001ull));
	CHECK(is_none("17800000060") && is_none("12345678"));
}

int main(void)
{
	spans();
	times();
	counts();
	return check_status();
}
