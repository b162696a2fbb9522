/* Texts by number: what records are folded by. */
#include "compiler/cli/report/parts.h"

#include "compiler/base/hash.h"

uint32_t texts_index(struct texts *t, struct str text, bool add)
{
	uint32_t at = hash64_folded(hash64_bytes(HASH64_SEED, text.p, text.n)) %
		      ARRAY_LEN(t->slot);

	for (; t->slot[at]; at = (at + 1) % ARRAY_LEN(t->slot))
		if (str_eq(t->v.v[t->slot[at] - 1], text))
			return t->slot[at];
	if (!add)
		return 0;
	if (t->v.n == TEXTS_MAX) {
		t->beyond++;
		return 0;
	}
	*vec_push(t->a, &t->v) = arena_str(t->a, text);
	t->slot[at] = t->v.n;
	return t->v.n;
}

void texts_keep(struct texts *t, struct str text, struct str *out)
{
	uint32_t i;

	if (str_eq(*out, text))
		return;
	i = texts_index(t, text, true);
	*out = i ? t->v.v[i - 1] : STR("…");
}

struct str texts_cut(struct arena *a, struct str s, size_t n)
{
	if (s.n <= n)
		return s;
	while (n && ((unsigned char)s.p[n] & 0xc0) == 0x80)
		n--;
	return arena_fmt(a, "%.*s…", STR_ARG(str_slice(s, 0, n)));
}

struct str texts_tail(struct arena *a, struct str s, size_t n)
{
	size_t from = s.n > n ? s.n - n : 0;

	while (from < s.n && ((unsigned char)s.p[from] & 0xc0) == 0x80)
		from++;
	if (from == 0)
		return s;
	return arena_fmt(a, "…%.*s", STR_ARG(str_slice(s, from, s.n)));
}
