#include "compiler/algebra/compare/calls.h"

/* What is left of one argument: from lo to hi, and these bits under a mask. */
struct stretch {
	uint64_t lo, hi, mask, bits;
};

/* What is left of all of them. */
struct box {
	struct stretch args[CALLS_CONDITIONS];
};

struct search {
	struct calls_budget *budget;
	const struct calls_rule *const *in, *const *out;
	uint32_t n_in, n_out;
	struct calls_point *found;
};

bool calls_opens(struct calls_answer answer)
{
	switch (answer.action) {
	case CALLS_ALLOW:
	case CALLS_LOG:
		return true;
	case CALLS_ERRNO:
	case CALLS_TRAP:
	case CALLS_KILL_THREAD:
	case CALLS_KILL_PROCESS:
		break;
	}
	return false;
}

bool calls_same_answer(struct calls_answer x, struct calls_answer y)
{
	return x.action == y.action && x.error == y.error;
}

const struct calls_rule *calls_find(const struct calls *c, struct str name,
				    uint32_t *out_n)
{
	uint32_t lo = 0, hi = c->rules.n, end;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (str_cmp(c->rules.v[mid].name, name) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (end = lo; end < c->rules.n; end++)
		if (!str_eq(c->rules.v[end].name, name))
			break;
	*out_n = end - lo;
	return *out_n ? &c->rules.v[lo] : NULL;
}

/* --- one argument --------------------------------------------------------- */

/* The smallest value in it. */
static bool first_value(const struct stretch *s, uint64_t *out)
{
	uint64_t differs = (s->lo ^ s->bits) & s->mask, below, free_bits;

	*out = s->lo;
	if (differs) {
		/* The highest bit that lo has otherwise, and those below. */
		below = UINT64_MAX >> __builtin_clzll(differs);
		if (!(s->lo & (below ^ (below >> 1)))) {
			*out = (s->lo & ~below) | (s->bits & below);
			return *out <= s->hi;
		}
		/* It has to go, so that one further up has to come. */
		free_bits = ~s->lo & ~s->mask & ~below;
		if (free_bits == 0)
			return false;
		below = (free_bits & -free_bits) - 1;
		*out = (s->lo & ~below) | (below + 1) | (s->bits & below);
	}
	return *out <= s->hi;
}

static bool narrow_stretch(struct stretch *s, const struct stretch *by)
{
	uint64_t ignored;

	if (s->mask & by->mask & (s->bits ^ by->bits))
		return false;
	s->lo = by->lo > s->lo ? by->lo : s->lo;
	s->hi = by->hi < s->hi ? by->hi : s->hi;
	s->mask |= by->mask;
	s->bits |= by->bits;
	return first_value(s, &ignored);
}

/* A masked value is not that where one bit differs, the lower ones not. */
static uint32_t split_bits(uint64_t value, uint64_t mask, struct stretch *out)
{
	uint32_t n = 0;

	for (uint64_t left = mask; left; left &= left - 1) {
		uint64_t bit = left & -left;

		out[n++] = (struct stretch){
			0, UINT64_MAX, mask & (bit | (bit - 1)),
			(value & (bit - 1)) | (~value & bit)};
	}
	return n;
}

static enum calls_op opposite_op(enum calls_op op)
{
	static const enum calls_op ops[] = {
		[CALLS_EQ] = CALLS_NE,	       [CALLS_NE] = CALLS_EQ,
		[CALLS_LT] = CALLS_GE,	       [CALLS_LE] = CALLS_GT,
		[CALLS_GE] = CALLS_LT,	       [CALLS_GT] = CALLS_LE,
		[CALLS_MASKED] = CALLS_MASKED,
	};

	return ops[op];
}

/* What meets a condition, or does not: that many parts, at most 64. */
static uint32_t split_condition(const struct calls_condition *c, bool meets,
				struct stretch out[64])
{
	uint64_t v = c->value, max = UINT64_MAX;
	uint32_t n = 0;

	switch (meets ? c->op : opposite_op(c->op)) {
	case CALLS_EQ:
		out[n++] = (struct stretch){v, v, 0, 0};
		break;
	case CALLS_NE:
		if (v > 0)
			out[n++] = (struct stretch){0, v - 1, 0, 0};
		if (v < max)
			out[n++] = (struct stretch){v + 1, max, 0, 0};
		break;
	case CALLS_LT:
		if (v > 0)
			out[n++] = (struct stretch){0, v - 1, 0, 0};
		break;
	case CALLS_LE:
		out[n++] = (struct stretch){0, v, 0, 0};
		break;
	case CALLS_GE:
		out[n++] = (struct stretch){v, max, 0, 0};
		break;
	case CALLS_GT:
		if (v < max)
			out[n++] = (struct stretch){v + 1, max, 0, 0};
		break;
	case CALLS_MASKED:
		if (!meets)
			return split_bits(v, c->mask, out);
		out[n++] = (struct stretch){0, max, c->mask, v};
		break;
	}
	return n;
}

/* --- all of them ---------------------------------------------------------- */

static bool find_within(struct search *s, const struct box *b, uint32_t rule,
			uint32_t condition);

static bool spend_step(struct search *s)
{
	if (s->budget->steps == 0)
		return false;
	s->budget->steps--;
	return s->budget->steps > 0;
}

/* Outside of this rule of out, and of those behind it. */
static bool find_outside(struct search *s, struct box b, uint32_t rule)
{
	const struct calls_rule *r;
	struct stretch parts[64];

	if (!spend_step(s))
		return false;
	if (rule == s->n_out) {
		/* narrow_stretch() has left no stretch that is empty. */
		for (uint32_t i = 0; i < CALLS_CONDITIONS; i++)
			first_value(&b.args[i], &s->found->args[i]);
		return true;
	}
	r = s->out[rule];
	for (uint32_t i = 0; i < r->n; i++) {
		const struct calls_condition *c = &r->conditions[i];
		uint32_t n = split_condition(c, false, parts);

		for (uint32_t k = 0; k < n; k++) {
			struct box part = b;

			if (narrow_stretch(&part.args[c->index], &parts[k]) &&
			    find_outside(s, part, rule + 1))
				return true;
		}
		/* What is left meets it, unless nothing is. */
		n = split_condition(c, true, parts);
		if (n == 1 && !narrow_stretch(&b.args[c->index], &parts[0]))
			break;
	}
	return false;
}

/* Within this condition of a rule of in, and what comes behind it. */
static bool find_within(struct search *s, const struct box *b, uint32_t rule,
			uint32_t condition)
{
	const struct calls_condition *c;
	struct stretch parts[64];
	uint32_t n;

	if (rule == s->n_in)
		return find_outside(s, *b, 0);
	if (condition == s->in[rule]->n)
		return find_within(s, b, rule + 1, 0);
	c = &s->in[rule]->conditions[condition];
	n = split_condition(c, true, parts);
	for (uint32_t k = 0; k < n; k++) {
		struct box part = *b;

		if (spend_step(s) &&
		    narrow_stretch(&part.args[c->index], &parts[k]) &&
		    find_within(s, &part, rule, condition + 1))
			return true;
	}
	return false;
}

bool calls_solve(struct calls_budget *budget,
		 const struct calls_rule *const in[], uint32_t n_in,
		 const struct calls_rule *const out[], uint32_t n_out,
		 struct calls_point *out_point)
{
	struct search s = {budget, in, out, n_in, n_out, out_point};
	struct box all;

	for (uint32_t i = 0; i < CALLS_CONDITIONS; i++)
		all.args[i] = (struct stretch){0, UINT64_MAX, 0, 0};
	return find_within(&s, &all, 0, 0);
}
