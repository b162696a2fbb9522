/* The words of one rule of ruleset.nft, and the values among them. */
#include "compiler/prove/parts.h"

#define WORDS_MAX 4096u /* of one rule: a list of ports may be long */

bool words_take(struct reader *r, struct str *out)
{
	if (r->at == r->n)
		return reader_fails(r, "a rule that ends too early");
	*out = r->w[r->at++];
	return true;
}

bool words_peek(const struct reader *r, const char *word)
{
	return r->at < r->n && str_is(r->w[r->at], word);
}

bool words_is(struct reader *r, const char *word)
{
	if (!words_peek(r, word))
		return reader_fails(r, "a word that no rule has there");
	r->at++;
	return true;
}

/* Several words, all of them. */
bool words_all(struct reader *r, const char *words)
{
	struct str rest = str_of(words), word;

	while (str_field(&rest, ' ', &word))
		if (r->at == r->n || !str_eq(r->w[r->at++], word))
			return reader_fails(r, "words that no rule has there");
	return true;
}

/* Decimal, or hexadecimal with 0x; no sign, at most 32 bits. */
bool words_number(struct str s, uint32_t *out)
{
	uint64_t v = 0;

	if (str_starts(s, STR("0x"))) {
		if (s.n < 3 || s.n > 10)
			return false;
		for (size_t i = 2; i < s.n; i++) {
			char c = s.p[i];
			unsigned d = c >= '0' && c <= '9' ? (unsigned)(c - '0')
				     : c >= 'a' && c <= 'f'
					     ? (unsigned)(c - 'a') + 10
					     : 16;

			if (d == 16)
				return false;
			v = v << 4 | d;
		}
	} else if (!str_u64(s, UINT32_MAX, &v)) {
		return false;
	}
	*out = (uint32_t)v;
	return true;
}

/* One value: a number or a range of them, or a word of the table. */
static bool add_value(struct reader *r, struct firewall_match *m,
		      const struct word_number *table, struct str word)
{
	struct firewall_span s;
	size_t dash = str_find(word, '-', 0);

	for (; table && table->word; table++)
		if (str_is(word, table->word)) {
			*vec_push(r->a, &m->spans) = (struct firewall_span){
				table->number, table->number};
			return true;
		}
	if (table || !words_number(str_slice(word, 0, dash), &s.lo))
		return reader_fails(r, "a value that is not known");
	s.hi = s.lo;
	if (dash < word.n &&
	    (!words_number(str_slice(word, dash + 1, word.n), &s.hi) ||
	     s.hi <= s.lo))
		return reader_fails(r, "a range that is none");
	*vec_push(r->a, &m->spans) = s;
	return true;
}

/* "[!=] a", "[!=] { a, b }"; states are "a,b". */
bool words_values(struct reader *r, struct firewall_match *m,
		  const struct word_number *table)
{
	struct str word, one;

	if (words_peek(r, "!=")) {
		r->at++;
		m->not = true;
	}
	if (!words_take(r, &word))
		return false;
	if (!str_is(word, "{")) {
		while (str_field(&word, ',', &one))
			if (!add_value(r, m, table, one))
				return false;
		return m->spans.n > 0;
	}
	for (bool more = true; more;) {
		if (!words_take(r, &word))
			return false;
		more = str_ends(word, STR(","));
		if (!add_value(r, m, table, str_slice(word, 0, word.n - more)))
			return false;
	}
	return words_is(r, "}");
}

/* ">= N", "& M == values", or values. */
bool words_compared(struct reader *r, struct firewall_match *m)
{
	struct str word;

	m->mask = UINT32_MAX;
	if (words_peek(r, ">=")) {
		struct firewall_span s = {0, UINT32_MAX - 1};

		r->at++;
		if (!words_take(r, &word) || !words_number(word, &s.lo))
			return reader_fails(r, "a number that is none");
		*vec_push(r->a, &m->spans) = s;
		return true;
	}
	if (words_peek(r, "&")) {
		r->at++;
		if (!words_take(r, &word) || !words_number(word, &m->mask))
			return reader_fails(r, "a number that is none");
		if (!words_is(r, "=="))
			return false;
	}
	return words_values(r, m, NULL);
}

bool words_split(struct reader *r)
{
	struct str rest = r->line, word;

	r->n = r->at = 0;
	if (!r->w)
		r->w = arena_array(r->a, WORDS_MAX, sizeof(*r->w));
	if (str_ends(rest, STR(" ")))
		return reader_fails(r, "a rule that is not one");
	while (str_field(&rest, ' ', &word)) {
		if (word.n == 0 || r->n == WORDS_MAX)
			return reader_fails(r, "a rule that is not one");
		r->w[r->n++] = word;
	}
	return true;
}
