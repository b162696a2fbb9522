#include "compiler/emit/nft/ranges.h"

void ranges_add(struct arena *a, ranges *r, const struct cidr *net)
{
	*vec_push(a, r) = (struct range){net->addr, cidr_last(net)};
}

/* Those that begin together are one, in whatever order. */
static int by_start(const void *va, const void *vb)
{
	const struct range *a = va, *b = vb;

	return addr_cmp(&a->lo, &b->lo);
}

/* Whether r begins within last or right behind it. */
static bool touches_range(const struct range *last, const struct range *r)
{
	struct addr next = last->hi;

	addr_step_up(&next);
	return addr_cmp(&r->lo, &next) <= 0;
}

void ranges_settle(ranges *r)
{
	uint32_t n = 0;

	if (r->n == 0)
		return;
	vec_sort(r, by_start);
	for (uint32_t i = 1; i < r->n; i++) {
		if (!touches_range(&r->v[n], &r->v[i]))
			r->v[++n] = r->v[i];
		else if (addr_cmp(&r->v[i].hi, &r->v[n].hi) > 0)
			r->v[n].hi = r->v[i].hi;
	}
	r->n = n + 1;
}

ranges ranges_minus(struct arena *a, const ranges *from, const ranges *less)
{
	ranges out = {0};
	uint32_t k = 0;

	vec_each(f, from) {
		struct range rest = *f;
		bool left = true;

		while (k < less->n && addr_cmp(&less->v[k].hi, &rest.lo) < 0)
			k++;
		for (uint32_t i = k; left && i < less->n; i++) {
			const struct range *l = &less->v[i];
			struct range before = rest;

			if (addr_cmp(&l->lo, &rest.hi) > 0)
				break;
			before.hi = l->lo;
			addr_step_down(&before.hi);
			if (addr_cmp(&l->lo, &rest.lo) > 0)
				*vec_push(a, &out) = before;
			rest.lo = l->hi;
			addr_step_up(&rest.lo);
			left = addr_cmp(&l->hi, &rest.hi) < 0;
		}
		if (left)
			*vec_push(a, &out) = rest;
	}
	return out;
}

/* The prefix length of a range that is one network, or -1. */
static int prefix_of(const struct range *r)
{
	struct cidr c = {.addr = r->lo, .bits = addr_bits(r->lo.family)};

	for (unsigned i = 0; i < c.bits; i++) {
		unsigned mask = 0x80u >> (i % 8);

		if ((r->lo.b[i / 8] ^ r->hi.b[i / 8]) & mask) {
			c.bits = (uint8_t)i;
			break;
		}
	}
	for (unsigned i = c.bits; i < addr_bits(r->lo.family); i++)
		if (r->lo.b[i / 8] & (0x80u >> (i % 8)))
			return -1;
	c.addr = cidr_last(&c);
	return addr_eq(&c.addr, &r->hi) ? c.bits : -1;
}

void ranges_print(struct buf *out, const struct range *r)
{
	char text[ADDR_TEXT_MAX];
	int bits = prefix_of(r);

	buf_adds(out, addr_text(&r->lo, text));
	if (bits == addr_bits(r->lo.family))
		return;
	if (bits >= 0)
		buf_addf(out, "/%d", bits);
	else
		buf_addf(out, "-%s", addr_text(&r->hi, text));
}
