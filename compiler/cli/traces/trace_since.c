#include "compiler/cli/traces/trace_since.h"

#include "compiler/base/duration.h"

#include <time.h>

#define NS    1000000000u
#define DAY_S 86400

/* A fixed number of digits at the beginning of *s. */
static bool take_digits(struct str *s, size_t n, int *out)
{
	uint64_t v;

	if (s->n < n || !str_u64(str_slice(*s, 0, n), UINT32_MAX, &v))
		return false;
	*out = (int)v;
	*s = str_slice(*s, n, s->n);
	return true;
}

static bool take_char(struct str *s, char c)
{
	if (s->n == 0 || s->p[0] != c)
		return false;
	*s = str_slice(*s, 1, s->n);
	return true;
}

/* ".888", to nanoseconds; nothing is nothing. */
static bool take_fraction(struct str *s, uint64_t *out_ns)
{
	uint64_t unit = NS;
	int digit;

	if (!take_char(s, '.'))
		return true;
	if (!take_digits(s, 1, &digit))
		return false;
	do {
		unit /= 10;
		*out_ns += unit * (uint64_t)digit;
	} while (take_digits(s, 1, &digit));
	return true;
}

/* "12:00", "12:00:30.5" */
static bool take_clock(struct str *s, int64_t *out_s, uint64_t *out_ns)
{
	int h, m, sec = 0;

	if (!take_digits(s, 2, &h) || !take_char(s, ':') ||
	    !take_digits(s, 2, &m))
		return false;
	if (take_char(s, ':') &&
	    (!take_digits(s, 2, &sec) || !take_fraction(s, out_ns)))
		return false;
	*out_s = (h * 60 + m) * 60 + sec;
	return h < 24 && m < 60 && sec <= 60;
}

/* "Z", "+02:00"; nothing is UTC. */
static bool take_offset(struct str *s, int64_t *out_s)
{
	bool west = take_char(s, '-');
	int h, m;

	*out_s = 0;
	if (!west && !take_char(s, '+')) {
		if (!take_char(s, 'Z'))
			take_char(s, 'z');
		return true;
	}
	if (!take_digits(s, 2, &h))
		return false;
	take_char(s, ':');
	if (!take_digits(s, 2, &m) || h > 23 || m > 59)
		return false;
	*out_s = (west ? -60 : 60) * (h * 60 + m);
	return true;
}

static bool take_date(struct str *s, int64_t *out_s)
{
	struct tm tm = {0}, back;
	time_t at;

	if (!take_digits(s, 4, &tm.tm_year) || !take_char(s, '-') ||
	    !take_digits(s, 2, &tm.tm_mon) || !take_char(s, '-') ||
	    !take_digits(s, 2, &tm.tm_mday))
		return false;
	tm.tm_year -= 1900;
	tm.tm_mon--;
	back = tm;
	at = timegm(&back);
	*out_s = at;
	/* The 31st of June would have become the 1st of July. */
	return back.tm_mday == tm.tm_mday && back.tm_mon == tm.tm_mon;
}

static bool parse_time(struct str s, int64_t today_s, uint64_t *out_ns)
{
	int64_t day = today_s, clock = 0, offset = 0;
	bool has_date = s.n > 4 && s.p[4] == '-';
	uint64_t ns = 0;

	if (has_date && !take_date(&s, &day))
		return false;
	if (!has_date || take_char(&s, 'T') || take_char(&s, 't') ||
	    take_char(&s, ' '))
		if (!take_clock(&s, &clock, &ns) || !take_offset(&s, &offset))
			return false;
	if (s.n)
		return false;
	day += clock - offset;
	if (day < 0)
		*out_ns = 0;
	else if ((uint64_t)day >= UINT64_MAX / NS) /* after 2554 */
		*out_ns = UINT64_MAX;
	else
		*out_ns = (uint64_t)day * NS + ns;
	return true;
}

static bool parse_count(struct str s, uint64_t *out_ns)
{
	uint64_t v;

	if ((s.n != 9 && s.n != 10 && s.n != 19) || !str_u64(s, UINT64_MAX, &v))
		return false;
	*out_ns = s.n == 19 ? v : v * NS;
	return true;
}

bool trace_since(struct str text, int64_t now_s, uint64_t *out_ns)
{
	int64_t today = now_s - now_s % DAY_S;
	uint64_t ago;

	if (str_is(text, "today") || str_is(text, "yesterday")) {
		today -= str_is(text, "today") ? 0 : DAY_S;
		*out_ns = (uint64_t)today * NS;
		return true;
	}
	if (text.n == 0)
		return false;
	if (parse_count(text, out_ns) || parse_time(text, today, out_ns))
		return true;
	take_char(&text, '-'); /* as journalctl has it */
	if (text.n == 0 || !duration_parse(text, &ago))
		return false;
	*out_ns = ago > (uint64_t)now_s ? 0 : ((uint64_t)now_s - ago) * NS;
	return true;
}
