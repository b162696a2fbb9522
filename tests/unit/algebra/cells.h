/*
 * Cells of a few rules, as text. Policies are written as in tests/policy.h.
 */
#ifndef TESTS_UNIT_ALGEBRA_CELLS_H
#define TESTS_UNIT_ALGEBRA_CELLS_H

#include "compiler/algebra/space/cells.h"

#include "tests/check.h"
#include "tests/policy.h"

struct cells {
	struct test_policy was, is;
	struct sides s;
	struct target to;
	uint32_t ids[64], n; /* rules that users wrote, and speak of it */
	uint16_t port;
	struct buf shown;
};

/* Rules of both policies, but the floor's. now: NULL is one policy alone. */
static inline void begin_cells(struct cells *c, const char *was,
			       const char *now, const char *name,
			       const char *addr)
{
	*c = (struct cells){.to.name = str_of(name)};
	CHECK(test_policy_make(&c->was, was));
	if (now)
		CHECK(test_policy_make(&c->is, now));
	if (addr)
		c->to.has_addr = addr_parse(str_of(addr), &c->to.addr);
	sides_init(&c->s, c->was.a, &c->was.policy, now ? &c->is.policy : NULL);
	for (uint32_t i = 0; i < c->s.rules.n; i++)
		if (rule_grant(&c->s.rules.v[i])->from.layer != LAYER_FLOOR)
			c->ids[c->n++] = i;
	c->ids[c->n] = UINT32_MAX / 2; /* what is behind them is no rule */
	buf_init(&c->shown, c->was.a);
}

static inline void end_cells(struct cells *c)
{
	sides_done(&c->s);
	test_policy_done(&c->was);
	if (c->is.a)
		test_policy_done(&c->is);
}

/* The place of a rule among those that are not the floor's. */
static inline uint32_t place_of(const struct cells *c, uint32_t rule)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (c->ids[i] == rule)
			return i;
	return UINT32_MAX;
}

static inline void show_rules(struct cells *c, const uint32_t *ids, uint32_t n)
{
	bool has[64] = {0};

	for (uint32_t i = 0; i < n; i++) {
		CHECK(!has[place_of(c, ids[i])]);
		has[place_of(c, ids[i])] = true;
	}
	for (uint32_t i = 0, some = 0; i < c->n; i++)
		if (has[i])
			buf_addf(&c->shown, some++ ? ",%u" : "%u", i);
}

#endif
