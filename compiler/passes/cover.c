#include "compiler/passes/cover.h"

#include "compiler/ir/ports.h"

#include <stdlib.h>

/* Addresses and names apart, each sorted, so that a look-up is a search. */
struct net_entry {
	struct cidr net;
	const struct ir_grant *grant;
};

struct name_entry {
	struct str name; /* a host, a pattern, or "**" for any */
	const struct ir_grant *grant;
};

struct cover {
	VEC(struct net_entry) nets;
	VEC(struct name_entry) names;
	bool bits4[33], bits6[129]; /* prefix lengths that occur */
};

static int by_net(const void *va, const void *vb)
{
	const struct net_entry *a = va, *b = vb;

	return cidr_cmp(&a->net, &b->net);
}

static int by_name(const void *va, const void *vb)
{
	const struct name_entry *a = va, *b = vb;

	return str_cmp(a->name, b->name);
}

static void add_net(struct arena *a, struct cover *c, const struct cidr *net,
		    const struct ir_grant *g)
{
	bool *bits = net->addr.family == ADDR_V4 ? c->bits4 : c->bits6;

	bits[net->bits] = true;
	*vec_push(a, &c->nets) = (struct net_entry){*net, g};
}

struct cover *cover_new(struct arena *a, const ir_grants *grants)
{
	struct cover *c = arena_new_of(a, struct cover);

	vec_each(g, grants) {
		const struct cidr *net = ir_dest_net(&g->dest);
		struct str name = ir_dest_name(&g->dest);

		if (net)
			add_net(a, c, net, g);
		else
			*vec_push(a, &c->names) = (struct name_entry){name, g};
	}
	vec_sort(&c->nets, by_net);
	vec_sort(&c->names, by_name);
	return c;
}

/* Given that its destination holds g's. */
static bool covers_grant(const struct ir_grant *by, const struct ir_grant *g)
{
	if (str_eq(by->canon, g->canon))
		return true;
	if (by->has_http || by->dest.kind == IR_DEST_URL)
		return false;
	if (g->private.set && g->private.v &&
	    !(by->private.set && by->private.v))
		return false;
	/* What is inspected in one is not in the other. */
	if (g->tls.set != by->tls.set || g->tls.v != by->tls.v)
		return false;
	return ports_cover(&by->ports, &g->ports);
}

static const struct ir_grant *find_name(const struct cover *c, struct str name,
					const struct ir_grant *g)
{
	struct name_entry key = {.name = name};
	const struct name_entry *at, *end;

	if (c->names.n == 0)
		return NULL;
	end = c->names.v + c->names.n;
	at = bsearch(&key, c->names.v, c->names.n, sizeof(key), by_name);
	if (!at)
		return NULL;
	while (at > c->names.v && str_eq(at[-1].name, name))
		at--;
	for (; at < end && str_eq(at->name, name); at++)
		if (covers_grant(at->grant, g))
			return at->grant;
	return NULL;
}

/* "**." or "*." in front of what follows the first n labels. */
static const struct ir_grant *find_wild(const struct cover *c, const char *star,
					struct str rest,
					const struct ir_grant *g)
{
	char text[300];
	size_t n = str_of(star).n;

	if (n + rest.n >= sizeof(text))
		return NULL;
	for (size_t i = 0; i < n; i++)
		text[i] = star[i];
	for (size_t i = 0; i < rest.n; i++)
		text[n + i] = rest.p[i];
	return find_name(c, (struct str){text, n + rest.n}, g);
}

static const struct ir_grant *find_by_name(const struct cover *c,
					   struct str name,
					   const struct ir_grant *g)
{
	const struct ir_grant *by = find_name(c, name, g);
	bool first = true;

	for (size_t dot = str_find(name, '.', 0); !by && dot < name.n;
	     dot = str_find(name, '.', dot + 1)) {
		struct str rest = str_slice(name, dot + 1, name.n);

		by = find_wild(c, "**.", rest, g);
		if (!by && first && !str_starts(name, STR("**")))
			by = find_wild(c, "*.", rest, g);
		first = false;
	}
	return by ? by : find_name(c, STR("**"), g);
}

/*
 * A network opens the part of the floor that it is more specific than; one
 * that holds it need not (doc/semantics.md, section 3).
 */
static bool opens_as_much(const struct cidr *by, const struct cidr *net)
{
	const struct addr_special *s;

	for (size_t i = 0; (s = addr_special(i)); i++)
		if (s->scope == ADDR_NEVER && s->net.bits < net->bits &&
		    cidr_covers(&s->net, net) && by->bits <= s->net.bits)
			return false;
	return true;
}

static const struct ir_grant *find_by_net(const struct cover *c,
					  const struct cidr *net,
					  const struct ir_grant *g)
{
	const bool *bits = net->addr.family == ADDR_V4 ? c->bits4 : c->bits6;
	struct net_entry key = {.net = *net};
	const struct net_entry *at, *end;

	if (c->nets.n == 0)
		return NULL;
	end = c->nets.v + c->nets.n;
	for (int n = net->bits; n >= 0; n--) {
		if (n < net->bits)
			key.net.addr.b[n / 8] &= (uint8_t) ~(0x80u >> (n % 8));
		key.net.bits = (uint8_t)n;
		if (!bits[n])
			continue;
		at = bsearch(&key, c->nets.v, c->nets.n, sizeof(key), by_net);
		if (!at)
			continue;
		while (at > c->nets.v && by_net(at - 1, &key) == 0)
			at--;
		for (; at < end && by_net(at, &key) == 0; at++)
			if (covers_grant(at->grant, g) &&
			    opens_as_much(&at->net, net))
				return at->grant;
	}
	return NULL;
}

const struct ir_grant *cover_find(const struct cover *c,
				  const struct ir_grant *g)
{
	const struct cidr *net = ir_dest_net(&g->dest);
	struct str name = ir_dest_name(&g->dest);

	return net ? find_by_net(c, net, g) : find_by_name(c, name, g);
}
