#include "compiler/algebra/space/endpoints.h"

#include "compiler/algebra/space/effects.h"
#include "compiler/algebra/space/names.h"
#include "compiler/algebra/space/nets.h"
#include "compiler/algebra/space/numbers.h"
#include "compiler/algebra/space/trie.h"

#include <string.h>

#define WANTED (SIDES_NONE - 1) /* the id of what was asked for */

struct finder {
	struct sides *s;
	struct endpoints *out;
	uint32_t *alike; /* per rule: what it does to connections, or 0 */
	trie_ids any;	 /* rules about every destination */
	bool any_wanted;
};

/* Rules of http open no connection, and deny none but those of QUIC. */
static bool has_effect(const struct rule *r)
{
	const struct ir_grant *g = rule_grant(r);

	return !ir_grant_http(g) ||
	       (r->deny && ir_dest_has_scheme(&g->dest, IR_SCHEME_HTTPS));
}

static void number_effects(struct finder *f, bool requests)
{
	f->alike = effects_number(f->s, requests);
	for (uint32_t i = 0; !requests && i < f->s->rules.n; i++)
		if (!has_effect(&f->s->rules.v[i]))
			f->alike[i] = 0;
}

/* --- endpoints ---------------------------------------------------------------
 */

/* On the floor two grants may be alike, and only one of them lead there. */
static bool is_opener(const struct rule *r, const struct addr *at)
{
	return !r->deny && addr_scope(at) == ADDR_NEVER &&
	       ir_grant_reaches(rule_grant(r), at);
}

/*
 * more: room for what the caller adds to the key; at: the address, or NULL of
 * names
 */
static struct endpoint *add_endpoint(struct finder *f, endpoint_list *to,
				     const uint32_t *ids, uint32_t n,
				     uint32_t more, const struct addr *at)
{
	struct arena *a = f->s->a;
	struct endpoint *p = vec_push(a, to);

	p->ids = arena_array(a, n + f->any.n + 1, sizeof(*p->ids));
	p->key = arena_array(a, n + more + 1, sizeof(*p->key));
	p->wanted = f->any_wanted;
	for (uint32_t i = 0; i < n; i++) {
		if (ids[i] == WANTED) {
			p->wanted = true;
			continue;
		}
		p->ids[p->n++] = ids[i];
		if (f->alike[ids[i]])
			p->key[p->n_key++] =
				f->alike[ids[i]] << 1 |
				(at && is_opener(&f->s->rules.v[ids[i]], at));
	}
	p->n_key = numbers_unique(p->key, p->n_key);
	vec_each(id, &f->any)
		p->ids[p->n++] = *id;
	p->n = numbers_unique(p->ids, p->n);
	return p;
}

static void visit_name(void *ctx, const struct names_class *c)
{
	struct finder *f = ctx;
	struct endpoint *p =
		add_endpoint(f, &f->out->names, c->ids, c->n, 0, NULL);

	p->to.name = c->name;
}

static void visit_net(void *ctx, const struct nets_class *c)
{
	struct finder *f = ctx;
	struct endpoint *p =
		add_endpoint(f, &f->out->addrs, c->ids, c->n, 1, &c->shown);

	p->to.has_addr = true;
	p->to.addr = c->shown;
	p->scope = c->scope;
	/* Numbers of effects are small: this one is none of them. */
	p->key[p->n_key++] = UINT32_MAX - (uint32_t)c->scope;
}

static void add_dest(struct finder *f, struct names *names, struct nets *nets,
		     const struct ir_dest *d, uint32_t id)
{
	const struct cidr *net = ir_dest_net(d);
	struct str name = ir_dest_name(d);

	if (net)
		nets_add(nets, net, id);
	else if (d->kind == IR_DEST_ANY && id == WANTED)
		f->any_wanted = true;
	else if (d->kind == IR_DEST_ANY)
		*vec_push(f->s->a, &f->any) = id;
	else
		names_add(names, name, id);
}

void endpoints_find(struct sides *s, const struct ir_dest *only, bool requests,
		    struct endpoints *out)
{
	struct finder f = {.s = s, .out = out};
	struct names *names = names_new(s->a);
	struct nets *nets = nets_new(s->a);

	*out = (struct endpoints){.complete = false};
	/* one for each rule, and what is between them */
	vec_reserve(s->a, &out->names, s->rules.n + s->rules.n / 4);
	number_effects(&f, requests);
	for (uint32_t i = 0; i < s->rules.n; i++)
		add_dest(&f, names, nets, &rule_grant(&s->rules.v[i])->dest, i);
	if (only)
		add_dest(&f, names, nets, only, WANTED);
	out->complete = names_each(names, visit_name, &f);
	nets_each(nets, visit_net, &f);
}

/* --- those alike --------------------------------------------------------- */

static int by_key(const void *va, const void *vb)
{
	const struct endpoint *a = va, *b = vb;

	if (a->wanted != b->wanted)
		return a->wanted ? -1 : 1;
	if (a->n_key != b->n_key)
		return a->n_key < b->n_key ? -1 : 1;
	return memcmp(a->key, b->key, a->n_key * sizeof(*a->key));
}

int endpoints_by_place(const struct endpoint *a, const struct endpoint *b)
{
	if (a->to.has_addr)
		return addr_cmp(&a->to.addr, &b->to.addr);
	return str_cmp(a->to.name, b->to.name);
}

/* A stable order for those alike, so that the same one is shown. */
static int by_key_and_place(const void *va, const void *vb)
{
	const struct endpoint *a = va, *b = vb;
	int c = by_key(a, b);

	return c ? c : endpoints_by_place(a, b);
}

uint32_t endpoints_sort(endpoint_list *list)
{
	uint32_t kind = 0;

	if (list->n == 0)
		return 0;
	vec_sort(list, by_key_and_place);
	for (uint32_t i = 1; i < list->n; i++) {
		kind += by_key(&list->v[i - 1], &list->v[i]) != 0;
		list->v[i].kind = kind;
	}
	return kind + 1;
}

uint32_t *endpoints_rules(struct sides *s, const struct endpoint *name,
			  const struct endpoint *addr, uint32_t *out_n)
{
	uint32_t *ids =
		arena_array(s->scratch, name->n + addr->n + 1, sizeof(*ids));

	if (name->n)
		memcpy(ids, name->ids, name->n * sizeof(*ids));
	if (addr->n)
		memcpy(ids + name->n, addr->ids, addr->n * sizeof(*ids));
	*out_n = numbers_unique(ids, name->n + addr->n);
	return ids;
}
