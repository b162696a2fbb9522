#include "runtime/gate/dns/resolved.h"

#include "compiler/base/hash.h"

#include <string.h>

static uint32_t bucket_of(const void *bytes, size_t n)
{
	return hash_mixed(hash_bytes(HASH_SEED, bytes, n)) % RESOLVED_BUCKETS;
}

static uint32_t addr_bucket(const struct addr *a)
{
	return bucket_of(a->b, sizeof(a->b));
}

void resolved_init(struct resolved *s)
{
	for (size_t i = 0; i < RESOLVED_BUCKETS; i++)
		s->name_heads[i] = s->addr_heads[i] = -1;
}

static void forget_name(struct resolved *s, int32_t at)
{
	struct resolved_name *n = &s->names[at];
	int32_t *p = &s->name_heads[bucket_of(n->name, strlen(n->name))];

	while (*p != at)
		p = &s->names[*p].next;
	*p = n->next;
	*n = (struct resolved_name){.generation = n->generation + 1};
}

struct resolved_name *resolved_name(struct resolved *s, struct str name)
{
	int32_t *head = &s->name_heads[bucket_of(name.p, name.n)];
	struct resolved_name *n;
	int32_t at;

	for (at = *head; at >= 0; at = s->names[at].next)
		if (str_is(name, s->names[at].name))
			return &s->names[at];
	at = (int32_t)s->next_name;
	s->next_name = (s->next_name + 1) % RESOLVED_NAMES;
	if (s->n_names < RESOLVED_NAMES)
		s->n_names++;
	n = &s->names[at];
	if (n->name[0])
		forget_name(s, at);
	if (name.n > LIMIT_NAME_BYTES)
		name.n = LIMIT_NAME_BYTES;
	memcpy(n->name, name.p, name.n);
	n->name[name.n] = '\0';
	n->next = *head;
	*head = at;
	return n;
}

static void forget_addr(struct resolved *s, int32_t at)
{
	int32_t *p = &s->addr_heads[addr_bucket(&s->addrs[at].addr)];

	while (*p != at)
		p = &s->addrs[*p].next;
	*p = s->addrs[at].next;
}

void resolved_addr(struct resolved *s, struct str name, const struct addr *addr)
{
	struct resolved_name *n = resolved_name(s, name);
	int32_t *head = &s->addr_heads[addr_bucket(addr)];
	int32_t at;

	for (at = *head; at >= 0; at = s->addrs[at].next)
		if (addr_eq(&s->addrs[at].addr, addr) &&
		    s->addrs[at].name == n - s->names &&
		    s->addrs[at].generation == n->generation)
			return;
	at = (int32_t)s->next_addr;
	s->next_addr = (s->next_addr + 1) % RESOLVED_ADDRS;
	if (s->addrs[at].live)
		forget_addr(s, at);
	s->addrs[at] = (struct resolved_addr){
		.addr = *addr,
		.live = true,
		.name = (int32_t)(n - s->names),
		.generation = n->generation,
		.next = *head,
	};
	*head = at;
}

unsigned resolved_names_of(struct resolved *s, const struct addr *addr,
			   struct resolved_name **out, unsigned max)
{
	unsigned n = 0;

	for (int32_t at = s->addr_heads[addr_bucket(addr)]; at >= 0 && n < max;
	     at = s->addrs[at].next) {
		struct resolved_addr *a = &s->addrs[at];
		struct resolved_name *name = &s->names[a->name];

		if (addr_eq(&a->addr, addr) &&
		    a->generation == name->generation)
			out[n++] = name;
	}
	return n;
}
