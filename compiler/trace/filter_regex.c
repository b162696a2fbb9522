/*
 * Regular expressions of a filter: POSIX extended ones, as regcomp(3) has
 * them, without those that would take a machine down.
 */
#include "compiler/trace/parts.h"

#include <stdlib.h>
#include <string.h>

#define GROUPS_MAX 64u

static bool is_digit(struct str s, size_t i)
{
	return i < s.n && s.p[i] >= '0' && s.p[i] <= '9';
}

/* Behind a bracket expression that begins at i: "[]a]", "[[:alpha:]]". */
static size_t behind_bracket(struct str s, size_t i)
{
	i += i + 1 < s.n && s.p[i + 1] == '^' ? 2 : 1;
	if (i < s.n && s.p[i] == ']')
		i++;
	for (; i < s.n && s.p[i] != ']'; i++)
		if (s.p[i] == '[' && i + 1 < s.n && strchr(":.=", s.p[i + 1]))
			while (i + 2 < s.n && s.p[i + 2] != ']')
				i++;
	return i + 1;
}

/* The larger number of "{2,5}" at i; 1 when that is no interval. */
static uint64_t times_at(struct str s, size_t i)
{
	uint64_t most = 1, n = 0;

	if (!is_digit(s, i + 1) && !(i + 1 < s.n && s.p[i + 1] == ','))
		return 1;
	for (i++; i < s.n && s.p[i] != '}'; i++) {
		n = is_digit(s, i) ? n * 10 + (uint64_t)(s.p[i] - '0') : 0;
		if (n > FILTER_REGEX_MAX)
			return n;
		most = n > most ? n : most;
	}
	return most;
}

/* How many characters it stands for: the library's memory grows with that. */
static uint64_t size_of(struct str s)
{
	uint64_t whole[GROUPS_MAX] = {0}; /* of each group that is open */
	uint64_t last = 0;		  /* what an interval would repeat */
	unsigned depth = 0;

	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '(') {
			if (++depth == GROUPS_MAX)
				return UINT64_MAX;
			whole[depth] = last = 0;
			continue;
		}
		if (s.p[i] == ')' && depth) {
			last = whole[depth--];
		} else if (s.p[i] == '{') {
			last *= times_at(s, i) - 1;
		} else {
			if (s.p[i] == '[')
				i = behind_bracket(s, i) - 1;
			i += i < s.n && s.p[i] == '\\';
			last = 1;
		}
		whole[depth] += last;
		if (whole[depth] > FILTER_REGEX_MAX)
			return whole[depth];
	}
	return whole[0];
}

/* "\1": matching those takes exponential time. */
static bool refers_back(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '[')
			i = behind_bracket(s, i) - 1;
		else if (s.p[i] == '\\' && is_digit(s, ++i))
			return true;
	}
	return false;
}

static bool refuse_regex(struct filter_parser *p, const struct filter_value *v,
			 const char *why)
{
	filter_error(p, v->at, "not a regular expression: %s", why);
	diag_help(p->d, "extended ones, as grep -E has them");
	return false;
}

static bool is_bounded(struct filter_parser *p, const struct filter_value *v)
{
	if (refers_back(v->text))
		return refuse_regex(p, v, "there are no references back");
	if (size_of(v->text) > FILTER_REGEX_MAX)
		return refuse_regex(p, v, "it repeats too much");
	return true;
}

regex_t *filter_regex(struct filter_parser *p, const struct filter_value *v)
{
	char why[128];
	regex_t *r;
	int rc;

	if (!is_bounded(p, v))
		return NULL;
	/* Not the arena's: the library keeps memory of its own in there. */
	r = calloc(1, sizeof(*r));
	if (!r)
		abort();
	rc = regcomp(r, arena_cstr(p->a, v->text), REG_EXTENDED | REG_NOSUB);
	if (rc == 0) {
		*vec_push(p->a, &p->out->regexes) = r;
		return r;
	}
	regerror(rc, r, why, sizeof(why));
	free(r);
	refuse_regex(p, v, why);
	return NULL;
}
