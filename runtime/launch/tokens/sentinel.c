#include "runtime/launch/tokens/sentinel.h"

#include "compiler/base/ascii.h"
#include "compiler/base/buf.h"
#include "compiler/base/sha256.h"

#include <string.h>

#define KEPT_MAX   16u /* of a prefix */
#define WORD_MAX   6u  /* of its words, without what is behind */
#define SECRET_MIN 24u /* what has to follow a prefix */
#define RANDOM_MIN 8u

const char *sentinel_digits(struct arena *a, const char *file,
			    const char *field)
{
	char hex[SHA256_HEX_MAX];

	sha256_hex(arena_fmt(a, "%s\n%s", file, field), hex);
	return arena_fmt(a, "%.*s", GATE_SENTINEL_DIGITS, hex).p;
}

/* Three parts, of which the first begins as an object of JSON does. */
static size_t claims_of(struct str secret)
{
	size_t first = str_find(secret, '.', 0), second;

	if (!str_starts(secret, STR("eyJ")) || first == secret.n)
		return 0;
	second = str_find(secret, '.', first + 1);
	if (second == secret.n || second == first + 1 ||
	    second + 1 == secret.n ||
	    str_find(secret, '.', second + 1) != secret.n)
		return 0;
	for (size_t i = 0; i < secret.n; i++)
		if (!ascii_is_alnum(secret.p[i]) && secret.p[i] != '-' &&
		    secret.p[i] != '_' && secret.p[i] != '.')
			return 0;
	return second + 1;
}

static size_t prefix_of(struct str secret)
{
	size_t kept = 0, word = 0;

	for (size_t i = 0; i < secret.n && i < KEPT_MAX; i++) {
		char c = secret.p[i];

		if ((c >= 'a' && c <= 'z') || ascii_is_digit(c)) {
			if (++word > WORD_MAX)
				break;
		} else if ((c == '-' || c == '_') && word) {
			kept = i + 1;
			word = 0;
		} else {
			break;
		}
	}
	return kept + SECRET_MIN <= secret.n ? kept : 0;
}

size_t sentinel_kept(struct str secret)
{
	size_t claims = claims_of(secret);

	return claims ? claims : prefix_of(secret);
}

struct str sentinel_make(struct arena *a, struct str secret, const char *digits,
			 struct str random)
{
	struct buf b;
	size_t least;

	buf_init(&b, a);
	buf_add(&b, str_slice(secret, 0, sentinel_kept(secret)));
	buf_addf(&b, GATE_SENTINEL "%s", digits);
	least = b.n + RANDOM_MIN;
	for (size_t i = 0; b.n < least || b.n < secret.n; i++)
		buf_addc(&b, random.p[i % random.n]);
	return buf_str(&b);
}

bool sentinel_is(struct str text, const char *digits)
{
	static const struct str word = STR_INIT(GATE_SENTINEL);

	for (size_t at = 0; at + word.n + GATE_SENTINEL_DIGITS <= text.n; at++)
		if (memcmp(text.p + at, word.p, word.n) == 0 &&
		    memcmp(text.p + at + word.n, digits,
			   GATE_SENTINEL_DIGITS) == 0)
			return true;
	return false;
}
