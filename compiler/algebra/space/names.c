#include "compiler/algebra/space/names.h"

#include "compiler/algebra/space/trie.h"
#include "compiler/base/buf.h"
#include "compiler/base/limits.h"

#include <stdlib.h>

/* A name has at most this many labels, all of one byte. */
#define DEPTH_MAX ((LIMIT_NAME_BYTES + 1) / 2)

struct names {
	struct arena *a;
	struct trie trie;
};

struct names *names_new(struct arena *a)
{
	struct names *n = arena_new_of(a, struct names);

	n->a = a;
	trie_init(&n->trie, a);
	return n;
}

static struct trie_node *child_make(struct names *n, struct trie_node *at,
				    struct str label)
{
	if (!str_is(label, "*"))
		return trie_child_make(&n->trie, at, label, label);
	if (!at->star)
		at->star = arena_new_of(n->a, struct trie_node);
	return at->star;
}

void names_add(struct names *n, struct str pattern, uint32_t id)
{
	struct trie_node *at = &n->trie.root;
	size_t end = pattern.n;

	while (end) {
		size_t beg = end;
		struct str label;

		while (beg && pattern.p[beg - 1] != '.')
			beg--;
		label = str_slice(pattern, beg, end);
		if (str_is(label, "**")) {
			*vec_push(n->a, &at->deep) = id;
			return;
		}
		at = child_make(n, at, label);
		end = beg ? beg - 1 : 0;
	}
	*vec_push(n->a, &at->here) = id;
}

/* --- the walk ------------------------------------------------------------ */

/*
 * A label on the way: as it is shown at the left end of a name, where others
 * stand before it, and as short as it can be.
 */
struct step {
	struct str label, inner, shortest;
};

struct walk {
	struct names *n;
	names_visit visit;
	void *ctx;
	struct step path[DEPTH_MAX];
	uint32_t depth, left;
	VEC(struct trie_node *) nodes; /* the sets on the way */
	/* What '**' has taken so far has not been visited by itself yet. */
	bool owed;
	bool named;	    /* the label is one that a pattern has */
	trie_ids deep, all; /* all: the room of one visit */
};

/* What a label may have led to: some of walk.nodes. */
struct set {
	uint32_t beg, end;
};

#define set_each(t, w, at)                                                     \
	for (struct trie_node **t = (w)->nodes.v + (at).beg;                   \
	     t < (w)->nodes.v + (at).end; t++)

static int by_label(const void *va, const void *vb)
{
	return str_cmp(*(const struct str *)va, *(const struct str *)vb);
}

typedef VEC(struct str) label_list;

static label_list labels_of(const struct walk *w, struct set at)
{
	label_list out = {0};
	uint32_t n = 0;

	set_each(t, w, at) for (const struct trie_node *c = (*t)->children; c;
				c = c->sibling) *
		vec_push(w->n->a, &out) = c->label;
	if (out.n == 0)
		return out;
	vec_sort(&out, by_label);
	for (uint32_t i = 1; i < out.n; i++)
		if (!str_eq(out.v[n], out.v[i]))
			out.v[++n] = out.v[i];
	out.n = n + 1;
	return out;
}

static bool is_among(const label_list *labels, struct str label)
{
	return labels->n &&
	       bsearch(&label, labels->v, labels->n, sizeof(label), by_label);
}

/*
 * A label that no pattern names here, for people: which, depends on depth, and
 * on whether there are more before it.
 */
static struct str other_label(struct arena *a, const label_list *labels,
			      uint32_t depth, bool inner)
{
	static const char *const words[][5] = {
		{"com", "org", "net", "io", "example"},
		{"example", "site", "acme", "shop", "blog"},
		{"www", "api", "app", "mail", "host"},
		{"eu", "us", "dev", "prod", "region"},
	};
	const char *const *list = words[depth < 2 ? depth : inner ? 3u : 2u];

	for (size_t i = 0; i < ARRAY_LEN(words[0]); i++)
		if (!is_among(labels, str_of(list[i])))
			return str_of(list[i]);
	for (unsigned i = 1;; i++) {
		struct str s = arena_fmt(a, "x%u", i);

		if (!is_among(labels, s))
			return s;
	}
}

/* The same as short as can be. It begins with a letter, as a last label must.
 */
static struct str shortest_label(struct arena *a, const label_list *labels)
{
	static const char digits[] = "abcdefghijklmnopqrstuvwxyz0123456789";

	for (size_t i = 0; i < 26; i++) {
		struct str s = {digits + i, 1};

		if (!is_among(labels, s))
			return s;
	}
	for (unsigned i = 0;; i++) {
		struct str s = arena_fmt(a, "%c%c", digits[i / 36 % 26],
					 digits[i % 36]);

		if (i >= 26 * 36)
			s = arena_fmt(a, "x%x", i);
		if (!is_among(labels, s))
			return s;
	}
}

/* The name that the steps lead to; empty when DNS has no room for it. */
static struct str name_of(const struct walk *w, bool shortest)
{
	char room[256];
	struct buf b;

	buf_init_in(&b, w->n->a, room, sizeof(room));
	for (uint32_t i = w->depth; i-- > 0;) {
		const struct step *s = &w->path[i];

		buf_add(&b, shortest		? s->shortest
			    : i + 1 == w->depth ? s->label
						: s->inner);
		if (i)
			buf_addc(&b, '.');
	}
	return b.n > LIMIT_NAME_BYTES ? (struct str){0} : buf_keep(&b);
}

static bool too_long(const struct walk *w)
{
	size_t n = w->depth;

	for (uint32_t i = 0; i < w->depth; i++)
		n += w->path[i].shortest.n;
	return n > LIMIT_NAME_BYTES + 1;
}

/*
 * Hardly any name has one label only. Where longer ones match the same, it is
 * one of those that is shown: nothing is known of any label that they have
 * more, and all that takes one label in its place takes no more of them.
 */
static struct str longer_name(const struct walk *w, struct set at)
{
	struct str name = name_of(w, false);
	label_list labels;

	if (w->depth != 1 || w->owed)
		return name;
	set_each(t, w, at) if ((*t)->here.n || (*t)->star ||
			       (*t)->deep.n) return name;
	labels = labels_of(w, at);
	return arena_fmt(w->n->a, "%.*s.%.*s",
			 STR_ARG(other_label(w->n->a, &labels, 1, false)),
			 STR_ARG(name));
}

static void visit_here(struct walk *w, struct set at)
{
	struct names_class c = {.name = longer_name(w, at)};

	w->all.n = 0;
	vec_each(id, &w->deep)
		*vec_push(w->n->a, &w->all) = *id;
	set_each(t, w, at) vec_each(id, &(*t)->here) *
		vec_push(w->n->a, &w->all) = *id;
	if (c.name.n == 0)
		c.name = name_of(w, true);
	c.ids = w->all.v;
	c.n = w->all.n;
	w->visit(w->ctx, &c);
}

static bool walk_set(struct walk *w, struct set at);

/* Down one label, of the literals, or another that only '*' and '**' take. */
static bool go_down(struct walk *w, struct set at, struct step step,
		    bool literal)
{
	uint32_t kept = w->deep.n, beg = w->nodes.n;
	bool owed = w->owed, ok = true;

	w->path[w->depth++] = step;
	for (uint32_t i = at.beg; i < at.end; i++) {
		struct trie_node *t = w->nodes.v[i];
		struct trie_node *c =
			literal ? trie_child(&w->n->trie, t, step.label) : NULL;

		if (c)
			*vec_push(w->n->a, &w->nodes) = c;
		if (t->star)
			*vec_push(w->n->a, &w->nodes) = t->star;
		vec_each(id, &t->deep)
			*vec_push(w->n->a, &w->deep) = *id;
	}
	w->named = literal;
	w->owed = w->nodes.n > beg && (w->deep.n > kept || (owed && !literal));
	if (!too_long(w))
		ok = walk_set(w, (struct set){beg, w->nodes.n});
	w->nodes.n = beg;
	w->deep.n = kept;
	w->depth--;
	return ok;
}

static bool down_other(struct walk *w, struct set at, const label_list *labels)
{
	struct arena *a = w->n->a;
	struct step other = {other_label(a, labels, w->depth, false),
			     other_label(a, labels, w->depth, true),
			     shortest_label(a, labels)};

	return go_down(w, at, other, false);
}

/* Does a label that no pattern names lead to a class of its own? */
static bool goes_on(const struct walk *w, struct set at)
{
	if (w->depth == 0 || w->owed)
		return true;
	set_each(t, w, at) if ((*t)->star || (*t)->deep.n) return true;
	return false;
}

/* A last label that patterns name, and none alone: it is like any other. */
static bool is_like_others(const struct walk *w, struct set at)
{
	if (w->depth != 1 || !w->named)
		return false;
	set_each(t, w, at) if ((*t)->here.n) return false;
	return true;
}

static bool walk_set(struct walk *w, struct set at)
{
	label_list labels = labels_of(w, at);

	if (w->depth) {
		if (w->left-- == 0)
			return false;
		if (!is_like_others(w, at))
			visit_here(w, at);
	}
	if (w->depth == DEPTH_MAX)
		return true;
	/* First those that fewest patterns are about: they are shown. */
	if (goes_on(w, at) && !down_other(w, at, &labels))
		return false;
	vec_each(l, &labels)
		if (!go_down(w, at, (struct step){*l, *l, *l}, true))
			return false;
	return true;
}

bool names_each(struct names *n, names_visit visit, void *ctx)
{
	struct walk w = {
		.n = n, .visit = visit, .ctx = ctx, .left = LIMIT_NAME_CLASSES};

	*vec_push(n->a, &w.nodes) = &n->trie.root;
	return walk_set(&w, (struct set){0, 1});
}
