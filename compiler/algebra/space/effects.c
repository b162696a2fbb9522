#include "compiler/algebra/space/effects.h"

#include "compiler/algebra/space/trie.h"
#include "compiler/base/buf.h"
#include "compiler/ir/text.h"

static void put_effect(struct buf *b, const struct rule *r, bool requests)
{
	const struct ir_grant *g = rule_grant(r);
	const bool bits[] = {r->deny,
			     r->ask,
			     g->lasts.v == IR_LASTS_SESSION,
			     g->lasts.v == IR_LASTS_ALWAYS,
			     r->g[0] != NULL,
			     r->g[1] != NULL,
			     g->private.set && g->private.v,
			     g->from.layer == LAYER_FLOOR,
			     ir_grant_http(g)};
	/* whether it is about requests, what follows says as well */
	size_t n = ARRAY_LEN(bits) - requests;

	for (size_t i = 0; i < n; i++)
		buf_addc(b, bits[i] ? '1' : '0');
	ir_ports_put(b, &g->ports);
	if (requests && g->dest.kind == IR_DEST_URL)
		buf_addf(b, " %d%.*s", g->dest.u.url.scheme,
			 STR_ARG(g->dest.u.url.path));
	if (requests)
		vec_each(h, &g->http)
			buf_addf(b, " [%.*s]", STR_ARG(ir_http_text(b->a, h)));
}

static int by_key(const void *va, const void *vb)
{
	const struct trie_node *const *a = va, *const *b = vb;

	return str_cmp((*a)->key, (*b)->key);
}

/* Of thousands of rules, few do anything of their own. */
static struct trie_node *find_node(struct trie *t, const struct rule *r,
				   bool requests)
{
	char room[256];
	struct trie_node *found;
	struct buf b;

	buf_init_in(&b, t->a, room, sizeof(room));
	put_effect(&b, r, requests);
	found = trie_child(t, &t->root, buf_str(&b));
	if (!found) {
		struct str key = buf_keep(&b);

		found = trie_child_make(t, &t->root, key, key);
	}
	return found;
}

uint32_t *effects_number(const struct sides *s, bool requests)
{
	uint32_t *out = arena_array(s->a, s->rules.n + 1, sizeof(*out));
	VEC(struct trie_node *) list = {0};
	struct trie t;

	trie_init(&t, s->a);
	for (uint32_t i = 0; i < s->rules.n; i++) {
		struct trie_node *c = find_node(&t, &s->rules.v[i], requests);

		*vec_push(s->a, &c->here) = i;
	}
	for (struct trie_node *c = t.root.children; c; c = c->sibling)
		*vec_push(s->a, &list) = c;
	vec_sort(&list, by_key);
	for (uint32_t i = 0; i < list.n; i++)
		vec_each(rule, &list.v[i]->here)
			out[*rule] = i + 1;
	return out;
}
