#include "compiler/cli/cluster/quantity.h"

#include "compiler/base/ascii.h"

#include <stddef.h>
#include <stdint.h>

#define DIGITS_MAX 30
#define NANO	   9 /* decimal places of what is compared */

typedef unsigned __int128 amount;

static const struct {
	const char *text;
	int ten, two; /* powers */
} suffixes[] = {
	{"", 0, 0},   {"n", -9, 0},  {"u", -6, 0},  {"m", -3, 0},
	{"k", 3, 0},  {"M", 6, 0},   {"G", 9, 0},   {"T", 12, 0},
	{"P", 15, 0}, {"E", 18, 0},  {"Ki", 0, 10}, {"Mi", 0, 20},
	{"Gi", 0, 30}, {"Ti", 0, 40}, {"Pi", 0, 50}, {"Ei", 0, 60},
};

/* The digits, and how many of them are behind the point. */
static bool take_digits(struct str *rest, amount *out, int *out_places)
{
	bool point = false;
	size_t i = 0, digits = 0;

	*out = 0;
	*out_places = 0;
	for (; i < rest->n; i++) {
		if (rest->p[i] == '.' && !point) {
			point = true;
			continue;
		}
		if (!ascii_is_digit(rest->p[i]))
			break;
		if (++digits > DIGITS_MAX)
			return false;
		*out = *out * 10 + (amount)(rest->p[i] - '0');
		*out_places += point;
	}
	*rest = str_slice(*rest, i, rest->n);
	return digits > 0;
}

/* "e3", "E-3"; "E" alone is a suffix. */
static bool take_exponent(struct str rest, int *out_ten)
{
	uint64_t n;
	bool minus;

	if (rest.n < 2 || (rest.p[0] != 'e' && rest.p[0] != 'E'))
		return false;
	minus = rest.p[1] == '-';
	rest = str_slice(rest, minus || rest.p[1] == '+' ? 2 : 1, rest.n);
	if (!str_u64(rest, DIGITS_MAX, &n))
		return false;
	*out_ten = minus ? -(int)n : (int)n;
	return true;
}

static bool take_suffix(struct str rest, int *out_ten, int *out_two)
{
	*out_two = 0;
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++)
		if (str_is(rest, suffixes[i].text)) {
			*out_ten = suffixes[i].ten;
			*out_two = suffixes[i].two;
			return true;
		}
	return take_exponent(rest, out_ten);
}

static bool scale_amount(amount *value, int ten, int two)
{
	for (; ten > 0; ten--)
		if (__builtin_mul_overflow(*value, (amount)10, value))
			return false;
	if (__builtin_mul_overflow(*value, (amount)1 << two, value))
		return false;
	for (; ten < 0; ten++) {
		if (*value % 10)
			return false;
		*value /= 10;
	}
	return true;
}

static bool parse_amount(struct str text, amount *out)
{
	int places, ten, two;

	if (text.n && text.p[0] == '+')
		text = str_slice(text, 1, text.n);
	return take_digits(&text, out, &places) &&
	       take_suffix(text, &ten, &two) &&
	       scale_amount(out, NANO - places + ten, two);
}

bool quantity_same(struct str a, struct str b)
{
	amount x, y;

	return parse_amount(a, &x) && parse_amount(b, &y) && x == y;
}
