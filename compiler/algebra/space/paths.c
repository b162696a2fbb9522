#include "compiler/algebra/space/paths.h"

#include "compiler/algebra/decide/decide.h"
#include "compiler/algebra/space/trie.h"

/*
 * Two tries of segments, one as spelled and one decoded, walked side by side:
 * a class is a pair of nodes. A spelling that no prefix has is left out, as
 * every rule that holds for it holds for one that is not.
 */
struct paths {
	struct arena *a;
	struct trie spelled, decoded;
};

struct paths *paths_new(struct arena *a)
{
	struct paths *p = arena_new_of(a, struct paths);

	p->a = a;
	trie_init(&p->spelled, a);
	trie_init(&p->decoded, a);
	return p;
}

void paths_add(struct paths *p, struct str prefix, bool decoded, uint32_t id)
{
	struct trie *t = decoded ? &p->decoded : &p->spelled;
	struct trie_node *at = &t->root;
	struct str label;

	while (prefix.n) {
		prefix = str_slice(prefix, 1, prefix.n); /* its '/' */
		label = str_slice(prefix, 0, str_find(prefix, '/', 0));
		prefix = str_slice(prefix, label.n, prefix.n);
		at = trie_child_make(t, at,
				     decoded ? decide_path_decoded(p->a, label)
					     : label,
				     label);
	}
	*vec_push(p->a, &at->here) = id;
}

struct walk {
	struct paths *p;
	paths_visit visit;
	void *ctx;
	trie_ids ids; /* of the nodes on the way */
};

static void take_node(struct walk *w, const struct trie_node *at)
{
	if (!at)
		return;
	vec_each(id, &at->here)
		*vec_push(w->p->a, &w->ids) = *id;
}

static void walk_trie(struct walk *w, struct str path,
		      const struct trie_node *s, const struct trie_node *d);

static void go_down(struct walk *w, struct str path, struct str label,
		    const struct trie_node *s, const struct trie_node *d)
{
	uint32_t kept = w->ids.n;

	path = arena_fmt(w->p->a, "%.*s/%.*s", STR_ARG(path), STR_ARG(label));
	walk_trie(w, path, s, d);
	w->ids.n = kept;
}

static void walk_trie(struct walk *w, struct str path,
		      const struct trie_node *s, const struct trie_node *d)
{
	struct paths *p = w->p;

	take_node(w, s);
	take_node(w, d);
	w->visit(w->ctx, &(struct paths_class){path.n ? path : STR("/"),
					       w->ids.v, w->ids.n});
	for (struct trie_node *c = s ? s->children : NULL; c; c = c->sibling)
		go_down(w, path, c->label, c,
			d ? trie_child(&p->decoded, d,
				       decide_path_decoded(p->a, c->label))
			  : NULL);
	for (struct trie_node *c = d ? d->children : NULL; c; c = c->sibling)
		if (!trie_child(&p->spelled, s, c->label))
			go_down(w, path, c->label, NULL, c);
}

void paths_each(struct paths *p, paths_visit visit, void *ctx)
{
	struct walk w = {.p = p, .visit = visit, .ctx = ctx};

	walk_trie(&w, (struct str){0}, &p->spelled.root, &p->decoded.root);
}
