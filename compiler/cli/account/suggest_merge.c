/*
 * What is alike in a suggestion, said in fewer words that permit more: requests
 * below one folder, names below one domain.
 */
#include "compiler/cli/account/suggest.h"

#include "compiler/base/name_match.h"
#include "compiler/lint/parts.h"

/* --- paths ---------------------------------------------------------------- */

static int by_rule(const void *va, const void *vb)
{
	const struct suggest_http *a = va, *b = vb;
	int c = str_cmp(a->method, b->method);

	return c ? c : str_cmp(a->path, b->path);
}

static void sort_rules(suggest_rules *list)
{
	uint32_t n = 0;

	vec_sort(list, by_rule);
	vec_each(x, list)
		if (n == 0 || by_rule(&list->v[n - 1], x))
			list->v[n++] = *x;
	list->n = n;
}

/* "/a/b" of "/a/b/c" and of "/a/b/c/"; empty at the root. */
struct str suggest_merge_folder(struct str path)
{
	while (path.n && path.p[path.n - 1] == '/')
		path.n--;
	return str_parent(path);
}

static bool covers_rule(const struct suggest_http *outer,
			const struct suggest_http *x)
{
	struct str p = outer->path;

	while (p.n && p.p[p.n - 1] == '/')
		p.n--;
	return outer != x && str_eq(outer->method, x->method) &&
	       str_starts(x->path, p) &&
	       (x->path.n == p.n || x->path.p[p.n] == '/');
}

/* All that another one permits as well. */
static void drop_covered(suggest_rules *list)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < list->n; i++) {
		bool covered = false;

		for (uint32_t k = 0; k < list->n && !covered; k++)
			covered = covers_rule(&list->v[k], &list->v[i]) &&
				  (k < n || k > i);
		if (!covered)
			list->v[n++] = list->v[i];
	}
	list->n = n;
}

/* Which methods a path is asked with, among these rules: "GET,POST". */
static struct str methods_of(struct arena *a, const suggest_rules *list,
			     struct str path)
{
	struct buf b;

	buf_init(&b, a);
	vec_each(x, list)
		if (str_eq(x->path, path))
			buf_addf(&b, "%s%.*s", b.n ? "," : "",
				 STR_ARG(x->method));
	return buf_str(&b);
}

/* Three or more in one folder, asked with the same methods, become it. */
static bool merge_one_folder(struct arena *a, suggest_rules *list)
{
	for (uint32_t i = 0; i < list->n; i++) {
		struct str in = suggest_merge_folder(list->v[i].path);
		struct str methods = methods_of(a, list, list->v[i].path);
		uint32_t n = 0;

		if (in.n == 0)
			continue;
		for (uint32_t k = 0; k < list->n; k++)
			n += str_eq(list->v[k].method, list->v[i].method) &&
			     str_eq(suggest_merge_folder(list->v[k].path),
				    in) &&
			     str_eq(methods_of(a, list, list->v[k].path),
				    methods);
		if (n < SUGGEST_SIBLINGS)
			continue;
		*vec_push(a, list) = (struct suggest_http){
			list->v[i].method, arena_fmt(a, "%.*s/", STR_ARG(in))};
		sort_rules(list);
		drop_covered(list);
		return true;
	}
	return false;
}

void suggest_merge_same(suggest_rules *list)
{
	sort_rules(list);
	drop_covered(list);
}

void suggest_merge_paths(struct arena *a, suggest_rules *list)
{
	while (merge_one_folder(a, list))
		;
}

/* --- names alike ---------------------------------------------------------- */

int suggest_merge_by_port(const void *va, const void *vb)
{
	const struct suggest_port *a = va, *b = vb;

	if (a->proto != b->proto)
		return (int)a->proto - (int)b->proto;
	return (int)a->port - (int)b->port;
}

static bool same_ports(const struct suggest_grant *x,
		       const struct suggest_grant *y)
{
	if (x->private != y->private || x->ports.n != y->ports.n)
		return false;
	for (uint32_t i = 0; i < x->ports.n; i++) {
		const suggest_rules *p = &x->ports.v[i].http;
		const suggest_rules *q = &y->ports.v[i].http;

		if (suggest_merge_by_port(&x->ports.v[i], &y->ports.v[i]) ||
		    x->ports.v[i].https != y->ports.v[i].https || p->n != q->n)
			return false;
		for (uint32_t k = 0; k < p->n; k++)
			if (by_rule(&p->v[k], &q->v[k]))
				return false;
	}
	return true;
}

static struct str parent_name(struct str name)
{
	return str_slice(name, str_find(name, '.', 0) + 1, name.n);
}

/* "co.uk", "com.au": names are sold below it. A guess on the safe side. */
static bool is_suffix(struct str name)
{
	size_t dot = str_find(name, '.', 0);
	struct str tld = str_slice(name, dot + 1, name.n);

	if (dot == name.n)
		return true;
	return str_find(tld, '.', 0) == tld.n && tld.n == 2 && dot <= 4;
}

/* Does "*.x" reach no more places of others than these names did? */
static bool may_merge(const struct suggest_grant *g, struct str pattern)
{
	const struct third_party *row;

	if (is_suffix(parent_name(g->dest)))
		return false;
	for (size_t i = 0; (row = third_party_at(i)); i++)
		if (name_matches(row->dest, g->dest) ||
		    str_eq(row->dest, pattern) ||
		    name_matches(pattern, row->dest))
			return false;
	return true;
}

static bool alike_grants(const struct suggest_grant *x,
			 const struct suggest_grant *g)
{
	return !x->merged && !x->is_addr &&
	       str_eq(parent_name(x->dest), parent_name(g->dest)) &&
	       same_ports(x, g);
}

void suggest_merge_names(struct arena *a, suggest_grants *list,
			 bool (*may)(void *ctx, const struct suggest_grant *g),
			 void *ctx)
{
	uint32_t all = list->n;
	struct str refused = {0};

	for (uint32_t i = 0; i < all; i++) {
		struct suggest_grant g = list->v[i];
		uint32_t n = 0;

		if (g.merged || g.is_addr)
			continue;
		for (uint32_t k = i; k < all; k++)
			n += alike_grants(&list->v[k], &g);
		g.dest = arena_fmt(a, "*.%.*s", STR_ARG(parent_name(g.dest)));
		if (n < SUGGEST_SIBLINGS || str_eq(g.dest, refused) ||
		    !may_merge(&list->v[i], g.dest))
			continue;
		if (!may(ctx, &g)) {
			refused = g.dest; /* by its siblings, too */
			continue;
		}
		for (uint32_t k = i; k < all; k++)
			if (k != i && alike_grants(&list->v[k], &list->v[i]))
				list->v[k].merged = true;
		list->v[i].merged = true;
		*vec_push(a, list) = g;
	}
}
