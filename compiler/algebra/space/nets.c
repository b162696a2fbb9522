#include "compiler/algebra/space/nets.h"

#include <stdlib.h>

#define CUTS	 UINT32_MAX /* the id of what only cuts */
#define CUTS_MAX 128

struct entry {
	struct cidr net;
	uint32_t id;
	enum addr_scope scope; /* of what cuts */
};

typedef VEC(struct entry) entry_list;

struct nets {
	struct arena *a;
	entry_list list;
};

struct nets *nets_new(struct arena *a)
{
	struct nets *n = arena_new_of(a, struct nets);

	n->a = a;
	return n;
}

void nets_add(struct nets *n, const struct cidr *net, uint32_t id)
{
	*vec_push(n->a, &n->list) = (struct entry){*net, id, ADDR_PUBLIC};
}

/* Those that hold others first, which makes a stack of them. */
static int by_net(const void *va, const void *vb)
{
	const struct entry *a = va, *b = vb;
	int c = cidr_cmp(&a->net, &b->net);

	/* qsort() keeps no order of its own */
	return c ? c : (a->id > b->id) - (a->id < b->id);
}

/* The networks behind addr_scope(), sorted: the same for every list. */
static const struct entry *all_cuts(uint32_t *out_n)
{
	static struct entry list[CUTS_MAX];
	static uint32_t n;
	const struct addr_special *s;

	*out_n = n;
	if (n)
		return list;
	for (size_t i = 0; n < CUTS_MAX && (s = addr_special(i)); i++)
		list[n++] = (struct entry){s->net, CUTS, s->scope};
	qsort(list, n, sizeof(*list), by_net);
	*out_n = n;
	return list;
}

struct sweep {
	struct nets *n;
	nets_visit visit;
	void *ctx;
	struct addr at; /* the first that was not visited */
	bool past;	/* there is none left in the family */
	entry_list open;
	VEC(uint32_t) ids; /* the room of one visit */
	const struct entry *cuts;
	uint32_t n_cuts, next_cut, next;
};

/* Those that people know for examples (RFC 5737, RFC 3849), or for what they
 * are: the first of them is preferred. */
static const char *const known[] = {
	"203.0.113.1", "198.51.100.1", "192.0.2.1",   "10.0.0.1",
	"192.168.1.1", "172.16.0.1",   "127.0.0.1",   "169.254.169.254",
	"1.1.1.1",     "8.8.8.8",      "2001:db8::1", "fd00::1",
	"fe80::1",     "::1",
};

/* The same as addresses. */
static const struct addr *known_addrs(void)
{
	static struct addr list[ARRAY_LEN(known)];

	if (list[0].family)
		return list;
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		(void)addr_parse(str_of(known[i]), &list[i]);
	return list;
}

/*
 * One that people know; else the first, but for one that ends in zero and looks
 * like a network's.
 */
static struct addr shown_address(const struct addr *first,
				 const struct addr *last)
{
	const struct addr *list = known_addrs();
	struct addr a = *first;

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (list[i].family == first->family &&
		    addr_cmp(first, &list[i]) <= 0 &&
		    addr_cmp(&list[i], last) <= 0)
			return list[i];
	if (a.b[addr_bits(a.family) / 8 - 1] == 0 && !addr_eq(first, last))
		addr_step_up(&a);
	return a;
}

/* What lies open from s->at up to last. */
static void put_range(struct sweep *s, const struct addr *last)
{
	struct nets_class c = {.first = s->at, .last = *last};

	if (s->past || addr_cmp(&s->at, last) > 0)
		return;
	s->ids.n = 0;
	vec_each(e, &s->open) {
		if (e->id != CUTS)
			*vec_push(s->n->a, &s->ids) = e->id;
		if (e->scope > c.scope)
			c.scope = e->scope;
	}
	c.shown = shown_address(&c.first, &c.last);
	c.ids = s->ids.v;
	c.n = s->ids.n;
	s->visit(s->ctx, &c);
	s->at = *last;
	s->past = !addr_step_up(&s->at);
}

/* Close what ends before the address, or everything. */
static void close_until(struct sweep *s, const struct addr *next)
{
	while (s->open.n) {
		const struct cidr *top = &s->open.v[s->open.n - 1].net;
		struct addr last = cidr_last(top);

		if (next && addr_cmp(&last, next) >= 0)
			return;
		put_range(s, &last);
		s->open.n--;
	}
}

/* The next of both lists that is of the family. */
static const struct entry *next_entry(struct sweep *s, enum addr_family f)
{
	const struct entry *a = NULL, *b = NULL;

	if (s->next < s->n->list.n &&
	    s->n->list.v[s->next].net.addr.family == f)
		a = &s->n->list.v[s->next];
	if (s->next_cut < s->n_cuts &&
	    s->cuts[s->next_cut].net.addr.family == f)
		b = &s->cuts[s->next_cut];
	if (!a || (b && by_net(b, a) < 0)) {
		s->next_cut += b != NULL;
		return b;
	}
	s->next++;
	return a;
}

static void sweep_family(struct sweep *s, enum addr_family f)
{
	const struct cidr all = {.addr.family = f};
	struct addr last = cidr_last(&all);

	s->at = all.addr;
	s->past = false;
	for (const struct entry *e; (e = next_entry(s, f));) {
		struct addr before = e->net.addr;

		close_until(s, &e->net.addr);
		if (addr_step_down(&before))
			put_range(s, &before);
		*vec_push(s->n->a, &s->open) = *e;
	}
	close_until(s, NULL);
	put_range(s, &last);
}

void nets_each(struct nets *n, nets_visit visit, void *ctx)
{
	struct sweep s = {.n = n, .visit = visit, .ctx = ctx};

	s.cuts = all_cuts(&s.n_cuts);
	vec_sort(&n->list, by_net);
	sweep_family(&s, ADDR_V4);
	sweep_family(&s, ADDR_V6);
}
