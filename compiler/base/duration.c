#include "compiler/base/duration.h"

#define DAY_S 86400

bool duration_parse(struct str s, uint64_t *out_s)
{
	static const struct {
		char unit;
		uint32_t seconds;
	} units[] = {{'s', 1},
		     {'m', 60},
		     {'h', 3600},
		     {'d', DAY_S},
		     {'w', 7 * DAY_S}};
	uint64_t n, sum = 0;
	size_t digits, i;

	while (s.n) {
		for (digits = 0;
		     digits < s.n && s.p[digits] >= '0' && s.p[digits] <= '9';)
			digits++;
		if (digits == s.n ||
		    !str_u64(str_slice(s, 0, digits), UINT32_MAX, &n))
			return false;
		for (i = 0; i < ARRAY_LEN(units); i++)
			if (units[i].unit == s.p[digits])
				break;
		if (i == ARRAY_LEN(units) || sum > INT64_MAX)
			return false;
		sum += n * units[i].seconds;
		s = str_slice(s, digits + 1, s.n);
	}
	*out_s = sum;
	return true;
}
